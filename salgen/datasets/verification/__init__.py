"""Verification of a data set: files, rows, and samples rendered again."""
