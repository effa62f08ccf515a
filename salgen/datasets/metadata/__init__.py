"""Metadata: cards, citations, Croissant and the description of a release."""
