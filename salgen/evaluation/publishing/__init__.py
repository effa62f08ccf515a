"""Publishing of runs: their release, card and redaction."""
