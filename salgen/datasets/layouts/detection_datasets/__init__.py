"""Photographs whose objects are annotated, of which one may show several classes."""
