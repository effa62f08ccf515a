"""Cutouts: things of COCO's classes, drawn, as transparent pictures that can be pasted on scenes."""

from salgen.generators.stand_ins.cutouts.library import KINDS, cutout

__all__ = ["KINDS", "cutout"]
