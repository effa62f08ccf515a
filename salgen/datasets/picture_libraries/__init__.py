"""Libraries of pictures that composites are made of; each module adds one to the registry."""
