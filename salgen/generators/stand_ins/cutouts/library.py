"""All sketches by the name of their COCO class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from salgen.generators.stand_ins.cutouts import (
    animals,
    beasts,
    belongings,
    carriers,
    dishes,
    food,
    furniture,
    household,
    kitchen,
    meals,
    screens,
    sports,
    street,
    vehicles,
)
from salgen.generators.stand_ins.cutouts.painting import painted
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.seeding import Stream

FIRST = ("backpack", "bird", "dog", "elephant", "kite", "pizza", "stop sign", "toilet", "truck", "zebra")  # BAM's ten
ROOMS = (
    animals,
    beasts,
    belongings,
    carriers,
    dishes,
    food,
    furniture,
    household,
    kitchen,
    meals,
    screens,
    sports,
    street,
    vehicles,
)
SKETCHES: dict[str, Sketch] = {name: sketch for room in ROOMS for name, sketch in room.SKETCHES.items()}
KINDS: tuple[str, ...] = (*FIRST, *sorted(set(SKETCHES) - set(FIRST)))


def cutout(name: str, stream: Stream, side: int) -> NDArray[np.uint8]:
    """A thing of a class on a transparent ground.

    Parameters
    ----------
    name
        One of :data:`KINDS`.
    stream
        What decides its form, colours, pose and light.
    side
        Pixels of its longer side, from 24 on.

    Returns
    -------
    uint8 (h, w, 4): red, green, blue and alpha, not multiplied; cropped to where alpha is above 0.

    Raises
    ------
    KeyError
        If there is no such class.
    """
    return painted(SKETCHES[name], stream, side)
