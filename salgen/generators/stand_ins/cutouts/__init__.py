"""Cutouts: drawn objects of COCO's classes on transparent backgrounds, to be pasted on scenes."""

from salgen.generators.stand_ins.cutouts.painting import KINDS, cutout

__all__ = ["KINDS", "cutout"]
