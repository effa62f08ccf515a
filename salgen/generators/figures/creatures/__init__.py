"""The pictures of cartoon figures."""
