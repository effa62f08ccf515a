"""Reading of data sets, stored or rendered from recipes."""
