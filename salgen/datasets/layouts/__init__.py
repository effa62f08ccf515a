"""Published layouts of public data sets, read for the importers."""
