"""Drawn stand-ins for the data sets of Saliency-Bench."""
