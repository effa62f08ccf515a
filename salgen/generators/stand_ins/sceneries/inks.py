"""The inks of scenes, each drawn from a range of colours that many others share.

Scenes must not be told apart by their mean colour, so ranges are wide and overlap: grass may be dry, snow may lie
in shade, walls have any colour.
"""

from collections.abc import Callable
from typing import Any

from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.stand_ins.sceneries.sheet import Ink

# By kind: "colours" that an ink lies between, and in "texture" its mottle, grain and streak
RANGES: dict[str, dict[str, Any]] = catalogue("inks.json")


def mixed(name: str, draw: Callable[[], float]) -> Ink:
    """An ink of a kind: between two of its colours, lighter or darker.

    Parameters
    ----------
    name
        One of RANGES; digits at the end distinguish inks of one kind.
    draw
        Returns numbers in [0, 1).
    """
    kind = RANGES[name.rstrip("0123456789")]
    colours = kind["colours"]
    first, second = colours[int(draw() * len(colours))], colours[int(draw() * len(colours))]
    share, gain = 0.5 * draw(), 0.82 + 0.3 * draw()
    red, green, blue = (min((a + share * (b - a)) * gain, 1.0) for a, b in zip(first, second, strict=True))
    return Ink((red, green, blue), *kind["texture"])
