"""Networks that find objects in pictures: what composites are filtered by."""
