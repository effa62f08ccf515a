"""Cutouts: things of COCO's classes, drawn, as transparent pictures that can be pasted on scenes."""

from salgen.generators.cutouts.library import NAMES, cutout

__all__ = ["NAMES", "cutout"]
