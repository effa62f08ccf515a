"""The sketches, by the names of their COCO classes."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.stand_ins.cutouts.painting import painted
from salgen.generators.stand_ins.cutouts.parts import read_items
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import BASES, read_skins
from salgen.seeding import Stream

OBJECTS = "objects/*.json"
FIRST = ("backpack", "bird", "dog", "elephant", "kite", "pizza", "stop sign", "toilet", "truck", "zebra")  # BAM's ten
KINDS: tuple[str, ...] = (*FIRST, *sorted(catalogue(OBJECTS).keys() - set(FIRST)))


@cache
def sketch(name: str) -> Sketch:
    """The sketch of a class, from the catalogue; its skins add to those of the base that it names, if any."""
    entry = dict(catalogue(OBJECTS)[name])
    skins = {**BASES.get(entry.pop("base", ""), {}), **read_skins(entry.pop("skins", {}))}
    return Sketch(skins, read_items(entry.pop("parts")), **entry)


def cutout(name: str, stream: Stream, side: int) -> NDArray[np.uint8]:
    """An object of a class on a transparent background.

    Parameters
    ----------
    name
        One of :data:`KINDS`.
    stream
        Decides its form, colours, pose and light.
    side
        Pixels of its longer side, at least 24.

    Returns
    -------
    uint8 (h, w, 4): red, green, blue and alpha, not multiplied; cropped to where alpha is above 0.
    """
    return painted(sketch(name), stream, side)
