"""Procedural scenes that stand in for the hundred classes of MiniPlaces."""

from salgen.generators.sceneries.painting import NAMES, scenery

__all__ = ["NAMES", "scenery"]
