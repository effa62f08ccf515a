"""The colours of sketches: palettes, materials and markings.

Palettes are wide and overlap, so that a colour says little about the class.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
import numpy as np
from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.drawing.patterns import bands, spots
from salgen.generators.drawing.splines import smooth_field
from salgen.seeding import Stream
from salgen.types import Float64

Tint = list[int]  # red, green and blue in 0..255


@dataclass(frozen=True)
class Marking:
    """A second colour on top of a skin's."""

    kind: str  # a name of `MARKINGS`
    tint: str  # the skin that gives the second colour
    scale: float  # size of the pattern, in shares of the picture's longer side
    chance: float = 1.0  # probability that it is drawn


@dataclass(frozen=True)
class Skin:
    """The possible looks of a tint of a sketch."""

    palette: str = ""  # two colours of it are mixed
    material: str = "smooth"  # a name of `MATERIALS`
    against: str = ""  # the skin that it should stand out from, or ""
    marking: Marking | None = None  # a second colour, or None
    like: str = ""  # the earlier skin whose colour it takes instead of one from a palette, or ""


def read_skins(entries: Mapping[str, Any]) -> dict[str, Skin]:
    """Skins as a catalogue describes them; a marking is a list of its attributes."""
    skins = {}
    for name, entry in entries.items():
        look = dict(entry)
        marking = look.pop("marking", None)
        skins[name] = Skin(**look, marking=Marking(*marking) if marking else None)
    return skins


PALETTES: dict[str, list[Tint]] = catalogue("skins.json")["palettes"]
# By material the smooth fields that make it uneven, (cells down, cells across, share of the brightness) of each, and
# perhaps the strength of the highlight on every part of it
MATERIALS: dict[str, dict[str, Any]] = catalogue("skins.json")["materials"]
COMMON = read_skins(catalogue("skins.json")["common"])
BASES = {name: read_skins(entries) for name, entries in catalogue("skins.json")["bases"].items()}


def marking(kind: str, scale: float, size: tuple[int, int], stream: Stream) -> Float64:
    """The share of the second colour, float64 (H, W) in [0, 1]; `scale` is in shares of the longer side."""
    longer = max(size)
    start = stream.uniform(2)
    down = ((np.arange(size[0]) + 0.5) / longer / scale + start[0])[:, np.newaxis]
    across = ((np.arange(size[1]) + 0.5) / longer / scale + start[1])[np.newaxis]
    signed = MARKINGS[kind](down, across, size, stream)
    return np.clip(0.5 + signed * (scale * longer), 0.0, 1.0)


def _tiles(down: Float64, across: Float64, size: tuple[int, int], stream: Stream) -> Float64:
    """Bent bricks with thin joints between them."""
    down = down + 1.1 * smooth_field(stream, size, (6, 6))
    across = across + 0.5 * (np.floor(down) % 2) + 1.1 * smooth_field(stream, size, (6, 6))
    return np.minimum(bands(down, 0.38), bands(across, 0.38))


MARKINGS: dict[str, Callable[[Float64, Float64, tuple[int, int], Stream], Float64]] = {
    # bent stripes from top to bottom, and from side to side; straight narrow ones
    "upright": lambda down, across, size, stream: bands(
        across + 0.25 * down + 1.1 * smooth_field(stream, size, (4, 3))
    ),
    "level": lambda down, across, size, stream: bands(down + 0.1 * across + 0.8 * smooth_field(stream, size, (3, 4))),
    "ribs": lambda down, across, size, stream: bands(across + 0.0 * down, 0.14),
    # large patches with smooth edges
    "patches": lambda down, across, size, stream: 1.2 * (smooth_field(stream, size, (5, 5)) - 0.1),
    "tiles": _tiles,
    # crossing stripes
    "checks": lambda down, across, size, stream: np.maximum(bands(down, 0.16) + 0.0 * across, bands(across, 0.16)),
    "spots": lambda down, across, size, stream: spots(down, across, 0.24),
}
