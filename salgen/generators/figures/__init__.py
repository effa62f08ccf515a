"""Cartoon figures."""
