"""Data sets that are made from the images of another one."""
