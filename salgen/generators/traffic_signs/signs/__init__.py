"""The pictures of drawn traffic signs."""
