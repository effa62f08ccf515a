"""The pictures of traffic lights."""
