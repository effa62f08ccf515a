"""Drawn people: their dress and pose as sketches, from the catalogue `people.json`."""

from functools import cache

from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.stand_ins.cutouts.parts import read_items
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import read_skins

PEOPLE = "people.json"
DRESSES: tuple[str, ...] = tuple(catalogue(PEOPLE)["clothes"])
STANDING = ("stand", "wave", "akimbo")
# Poses with a thing: its middle, (down, across) from the person's middle in shares of the person's height
PLACES: dict[str, tuple[float, float]] = {
    name: tuple(pose["at"]) for name, pose in catalogue(PEOPLE)["poses"].items() if "at" in pose
}


@cache
def person(dress: str, pose: str) -> Sketch:
    """The sketch of a person: skin, hair and colours vary, dress and pose are given."""
    entries = catalogue(PEOPLE)
    limbs = entries["poses"][pose]
    leg, body = "skin" if dress == "gown" else "bottom", entries["clothes"][dress]
    rows = [
        ["line", leg, 11, limbs["legs"]],
        ["dots", "shoe", 6.5, _ends(limbs["legs"])],
        *body,
        ["line", "top", 9, limbs["arms"]],
        ["dots", "skin", 5.5, _ends(limbs["arms"])],
        *entries["head"],
    ]
    return Sketch(read_skins(entries["skins"]), read_items(rows), give=0.5, mirrored=pose in STANDING)


def _ends(lines: str) -> str:
    """The last point of each line."""
    return " ".join(line.split()[-1] for line in lines.split("/"))
