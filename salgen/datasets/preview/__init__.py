"""Summaries and contact sheets."""
