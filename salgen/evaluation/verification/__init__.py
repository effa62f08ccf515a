"""Verification of data sets, archives and runs: recompute and compare."""
