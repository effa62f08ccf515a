"""Methods that people rate in a browser."""
