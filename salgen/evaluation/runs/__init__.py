"""Runs of ``salgen evaluate``: plan, chunks of scores, and the artifacts of a run folder."""
