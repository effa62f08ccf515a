"""A static site from run folders: one table of all means, and the report of each run."""
