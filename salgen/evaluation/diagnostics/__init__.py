"""Diagnostics: checks of metrics, correlations between them, and suspicious samples."""
