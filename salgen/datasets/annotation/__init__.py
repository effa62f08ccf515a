"""Masks that people draw in a browser, and the data set that they make."""
