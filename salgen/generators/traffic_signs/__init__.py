"""Traffic signs with an added square."""
