"""Object detection networks, by which the composites' objects are filtered."""
