"""Importers: data sets that others publish, read from the user's own copy in its published layout."""
