"""Archives of data sets: written the same twice, read without trust."""
