"""A user's own images with annotations in any common format."""
