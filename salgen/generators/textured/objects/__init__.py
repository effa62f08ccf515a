"""The pictures of textured objects."""
