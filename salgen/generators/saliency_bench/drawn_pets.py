"""Drawn cats and dogs of 37 breeds, told apart by kind, coat and markings: a stand-in for Pet-XAI."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar
from salgen.generators.composites.pasting import Pixels, Window
from salgen.generators.interfaces import Context, Scale
from salgen.generators.saliency_bench.marked_scene import CutoutScene, cutout
from salgen.generators.stand_ins.cutouts.painting import sketch
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Marking, Skin

MARKINGS = {
    "plain": None,
    "striped": Marking("upright", "b", 0.14),
    "patched": Marking("patches", "b", 0.4),
    "banded": Marking("level", "b", 0.14),
    "spotted": Marking("spots", "b", 0.16),
}
COATS = {"black": "ginger", "ginger": "white", "grey": "black", "white": "black", "brown": "white"}  # and markings
KINDS = {"cat": (list(COATS)[:4], list(MARKINGS)[:3]), "dog": (list(COATS), list(MARKINGS))}
BREEDS = tuple(f"{coat}_{mark}_{kind}" for kind, (coats, marks) in KINDS.items() for coat in coats for mark in marks)


@dataclass(frozen=True)
class DrawnPets(CutoutScene):
    """Drawn cats of 12 breeds and dogs of 25 on drawn scenes: a stand-in for pet-xai (Pet-XAI of Saliency-Bench).

    A breed is a kind of animal with one of five coats and of five markings, so the whole animal tells it. The mask is
    the animal; the twin is the scene without it. A number from these drawings is not a number on Pet-XAI.
    """

    name: ClassVar[str] = "drawn-pets"
    task: ClassVar[str] = "breed"
    region: ClassVar[str] = "pet"
    feature: ClassVar[str] = "pet"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"breed": BREEDS, "species": tuple(KINDS)}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {}),
        "small": Scale({"train": 5000, "val": 500, "test": 1000}, {}),
        "full": Scale({"train": 5173, "val": 1108, "test": 1109}, {"image_size": (224, 224)}),
    }

    def draw_feature(self, context: Context, label: int) -> dict[str, Any]:
        """Size, place and key of the animal."""
        return self.draw_place(context, (0.75, 1.0))

    def labels(self, parameters: Mapping[str, Any]) -> dict[str, int]:
        """Breed and species."""
        return {"breed": parameters["breed"], "species": list(KINDS).index(BREEDS[parameters["breed"]].split("_")[2])}

    def pieces(self, parameters: Mapping[str, Any]) -> list[tuple[Pixels, Window]]:
        """The animal."""
        drawn = _sketch(BREEDS[parameters["breed"]])
        picture = cutout(drawn, parameters["feature_key"], self.pixels(parameters["size"]))
        return [(picture, self.window(picture.shape[:2], parameters["place"]))]


@cache
def _sketch(breed: str) -> Sketch:
    coat, mark, kind = breed.split("_")
    plain = sketch(kind)
    looks = {**plain.skins, "a": Skin(coat, "fur", marking=MARKINGS[mark]), "b": Skin(COATS[coat])}
    return replace(plain, skins=looks)
