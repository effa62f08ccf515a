"""Scoring: maps and masks to values, and the selection of metrics."""
