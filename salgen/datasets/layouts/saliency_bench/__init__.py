"""Layouts of the data that Saliency-Bench is built from, and its own folders."""
