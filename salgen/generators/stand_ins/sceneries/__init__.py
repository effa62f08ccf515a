"""Procedural scenes that stand in for the hundred classes of MiniPlaces."""

from salgen.generators.stand_ins.sceneries.painting import KINDS, scenery

__all__ = ["KINDS", "scenery"]
