"""Drawn people who do one of 127 things, told by pose and object together: a stand-in for Action-XAI."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar
import numpy as np
from salgen.generators.composites.pasting import Pixels, Window
from salgen.generators.interfaces import Context, Scale
from salgen.generators.saliency_bench.drawn_people import DRESSES, PLACES, person
from salgen.generators.saliency_bench.marked_scene import CutoutScene, cutout
from salgen.generators.stand_ins.cutouts.painting import sketch

THINGS = (
    *("banana", "book", "broccoli", "carrot", "clock", "fire hydrant", "hot dog", "keyboard", "laptop", "orange"),
    *("pizza", "stop sign", "teddy bear", "tv", "umbrella", "wine glass"),
)
PAIRS = list(product(PLACES, THINGS))[:127]  # all but the last of 128
ACTIVITIES = tuple(f"{pose}_{thing}".replace(" ", "_") for pose, thing in PAIRS)
THING = 0.66  # a thing's longer side in shares of the person's height


@dataclass(frozen=True)
class DrawnActions(CutoutScene):
    """Drawn people with an object on drawn scenes, 127 activities: a stand-in for action-xai (Action-XAI).

    An activity is one of eight poses with one of sixteen objects, which lies where the pose has it. The last of the 128
    pairs is left out, as Saliency-Bench has 127. The mask is the person and the object; the twin is the scene without
    them. A number from these drawings is not a number on Action-XAI.
    """

    name: ClassVar[str] = "drawn-actions"
    task: ClassVar[str] = "activity"
    region: ClassVar[str] = "evidence"
    feature: ClassVar[str] = "evidence"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"activity": ACTIVITIES}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 3810, "val": 254, "test": 254}, {}),
        "small": Scale({"train": 8001, "val": 508, "test": 1016}, {}),
        "full": Scale({"train": 8001, "val": 1778, "test": 1778}, {"image_size": (224, 224)}),
    }

    def draw_feature(self, context: Context, label: int) -> dict[str, Any]:
        """Dress, size, place and keys of person and object."""
        stream = context.stream("looks")
        dress = DRESSES[int(stream.integers(len(DRESSES), 1)[0])]
        return {"dress": dress, "object_key": stream.key(), **self.draw_place(context, (0.6, 0.66))}

    def pieces(self, parameters: Mapping[str, Any]) -> list[tuple[Pixels, Window]]:
        """The person and, in front, the object."""
        pose, thing = PAIRS[parameters["activity"]]
        height = self.pixels(parameters["size"])
        pictures = [
            cutout(person(parameters["dress"], pose), parameters["feature_key"], height),
            cutout(sketch(thing), parameters["object_key"], max(int(THING * height), 1)),
        ]
        sizes = np.array([picture.shape[:2] for picture in pictures])
        corners = np.rint(np.array([(0.0, 0.0), PLACES[pose]]) * height - sizes / 2).astype(int)
        low, high = corners.min(axis=0), (corners + sizes).max(axis=0)
        whole = self.window(tuple((high - low).tolist()), parameters["place"])
        first = corners - low + (whole.row, whole.column)
        return [
            (picture, Window(*corner.tolist(), *picture.shape[:2]))
            for picture, corner in zip(pictures, first, strict=True)
        ]
