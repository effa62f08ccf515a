"""Metrics, one a file; a file that defines one carries a literal ``NAMES``."""
