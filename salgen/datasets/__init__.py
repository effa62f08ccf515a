"""Data sets on disk: shards, cards, reading, checking. No torch here."""
