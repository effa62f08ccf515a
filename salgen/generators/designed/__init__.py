"""Images for networks that are designed: the exact attribution of each is known."""
