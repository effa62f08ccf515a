"""Reliance: samples rendered again, and whether the model used the feature."""
