"""Drawn people in gowns or in trousers: a stand-in for Gender-XAI."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar
from salgen.generators.composites.pasting import Pixels, Window
from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.interfaces import Context, Scale
from salgen.generators.saliency_bench.marked_scene import CutoutScene, cutout
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import read_skins
from salgen.parameters import param

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
    return Sketch(read_skins(entries["skins"]), rows, give=0.5, mirrored=pose in STANDING)


def _ends(lines: str) -> str:
    """The last point of each line."""
    return " ".join(line.split()[-1] for line in lines.split("/"))


@dataclass(frozen=True)
class DrawnPeople(CutoutScene):
    """Drawn people in gowns or in trousers on drawn scenes: a stand-in for gender-xai (Gender-XAI of Saliency-Bench).

    What a person wears is the class, and it is nobody's gender: hair, skin, colours and pose are drawn without regard
    to it. As in the published data only a part of the images is marked. There the mask, region `person`, is the whole
    person, and the twin is the scene alone. The region `figure` is the person in every image. A number from these
    drawings is not a number on Gender-XAI.
    """

    name: ClassVar[str] = "drawn-people"
    region: ClassVar[str] = "person"
    feature: ClassVar[str] = "figure"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": DRESSES}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 1000, "val": 200, "test": 200}, {}),
        "small": Scale({"train": 3500, "val": 750, "test": 750}, {}),
        "full": Scale({"train": 3500, "val": 750, "test": 750}, {"image_size": (224, 224)}),
    }

    marked: float = param(0.69, "share of images that have a mask", low=0.0, high=1.0)

    def draw_feature(self, context: Context, label: int) -> dict[str, Any]:
        """Pose, size, place and key of the person."""
        pose = STANDING[int(context.stream("pose").integers(len(STANDING), 1)[0])]
        return {"pose": pose, **self.draw_place(context, (0.9, 1.0))}

    def pieces(self, parameters: Mapping[str, Any]) -> list[tuple[Pixels, Window]]:
        """The person."""
        drawn = person(DRESSES[parameters["label"]], parameters["pose"])
        picture = cutout(drawn, parameters["feature_key"], self.pixels(parameters["size"]))
        return [(picture, self.window(picture.shape[:2], parameters["place"]))]
