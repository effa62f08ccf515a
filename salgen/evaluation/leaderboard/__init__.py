"""A static site from run folders: one table of all means, and the report of each run."""

from salgen.evaluation.leaderboard.site import leaderboard

__all__ = ["leaderboard"]
