"""Saliency methods, one family per module."""
