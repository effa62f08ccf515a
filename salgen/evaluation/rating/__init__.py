"""Explanations that people rate in a browser."""
