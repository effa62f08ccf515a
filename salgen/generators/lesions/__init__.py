"""Lesions on noise and on slices of brains."""
