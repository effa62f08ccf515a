"""Finished runs as objects."""
