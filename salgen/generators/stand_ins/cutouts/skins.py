"""The colours of sketches: palettes, materials and markings.

Palettes are wide and overlap, so that a colour says little about the class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from salgen.generators.drawing.catalogue import catalogue

Tint = list[int]  # red, green and blue in 0..255


@dataclass(frozen=True)
class Material:
    """A material: smooth fields that make it uneven, and a highlight."""

    # (cells down, cells across, strength) of each; the strength is a share of the brightness
    fields: Sequence[tuple[int, int, float]]
    gloss: float = 0.0  # strength of the highlight on every part of this material


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
MATERIALS = {name: Material(**entry) for name, entry in catalogue("skins.json")["materials"].items()}
COMMON = read_skins(catalogue("skins.json")["common"])
BASES = {name: read_skins(entries) for name, entries in catalogue("skins.json")["bases"].items()}
