"""Heroes and villains: cartoon creatures that differ in the colour of their eyes and in nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.generators.drawing.choices import Choices, Tint
from salgen.generators.figures.backdrops import draw_backdrop, draw_sparkles
from salgen.generators.figures.creature import draw_creature
from salgen.generators.figures.drawing import Drawing, Placement
from salgen.generators.figures.eyes import Eye, paint_eye, reach_of, support_of
from salgen.generators.interfaces import SCALES, Context, Edit, Rendered, Scale
from salgen.generators.painted_base import Drawn, check_edit
from salgen.seeding import Stream
from salgen.types import Float64

CLASSES = ("hero", "villain")
COLOURS = ("white", "yellow")  # the eyes' colour, by class
SIDES = ("left_eye", "right_eye")
REDRAWN = ("figure", "decoys", "backdrop")  # stream keys


@dataclass(frozen=True)
class DrawnFigures(Drawn):
    """Drawn heroes with white eyes and villains with yellow ones, and no other difference: a stand-in for zings.

    The toy figures of Szczepankiewicz et al. 2023 are a commercial brand; these creatures are generic. Body, dress,
    horns, mouth and background are drawn without regard to the class. Every image also holds white and yellow things
    that are not eyes. The mask is both eyes, with pupils, outlines and soft rims; the twin has the other class's eyes.
    """

    name: ClassVar[str] = "drawn-figures"
    regions: ClassVar[tuple[str, ...]] = ("eyes", *SIDES)  # both eyes, and each
    family: ClassVar[str] = "zings"  # names the streams of random numbers
    takes_no_source: ClassVar[str] = "takes none; your own pictures are read by zings"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": CLASSES}
    scales: ClassVar[Mapping[str, Scale]] = {
        **SCALES,
        "full": Scale({"train": 308, "val": 77, "test": 96}, {"image_size": (224, 224)}),
    }

    def draw(self, context: Context) -> dict[str, Any]:
        """Label, the eyes' places, shapes and colours, and the keys of all that is drawn around them."""
        return {"label": context.balanced("label"), **_draw_eyes(context), **_draw_keys(context)}

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same eyes in another creature before another background."""
        return {**parameters, **_draw_keys(context)}

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same eyes elsewhere and turned, in another creature before another background."""
        return {**self.redraw(parameters, context), **_draw_place(Choices(context.stream("place")))}

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """Each eye."""
        return list(SIDES)

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit:
        """The other class's eyes."""
        return Edit(change={"eyes": COLOURS[1 - parameters["label"]]})

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Position of the eyes, in shares of the image's side from its middle, and their shape."""
        keys = ("down", "across", "turn", "gap", "pupil")
        areas = {f"{side}_area": pi * a * b for side, (a, b) in zip(SIDES, parameters["radii"], strict=True)}
        return {**{key: parameters[key] for key in keys}, **areas}

    def scene(self, parameters: Mapping[str, Any], material: Any) -> Float64:
        """The creature without its eyes, in front of its background."""
        streams = {name: Stream.from_key(parameters[name], name) for name in REDRAWN}
        height, width = self.image_size
        drawing = Drawing(self.image_size, Placement((height / 2, width / 2), float(max(height, width))))
        draw_backdrop(drawing, Choices(streams["backdrop"]))
        drawing.frame = self._frame(parameters)
        decoys = Choices(streams["decoys"])
        gleams = _gleam(decoys, "white"), _gleam(decoys, "yellow")
        draw_creature(drawing, reach_of(_eyes(parameters)), gleams, Choices(streams["figure"], 128))
        drawing.frame = Placement((height / 2, width / 2), float(min(height, width)))
        draw_sparkles(drawing, gleams, decoys)
        return drawing.picture()[0]

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Any, edit: Edit) -> None:
        """Paint the eyes that are not left out; ``change={"eyes": "white"}`` or ``"yellow"``."""
        colour = _colour(parameters, edit)
        for side in _visible_eyes(edit):
            paint_eye(canvas, _eyes(parameters)[side], self._frame(parameters), tuple(parameters[colour]))

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The image with its class and the support of each eye."""
        regions = {side: np.zeros(self.image_size, dtype=bool) for side in SIDES}
        for side in _visible_eyes(edit):
            regions[side] = support_of(_eyes(parameters)[side], self._frame(parameters), self.image_size)
        label = COLOURS.index(_colour(parameters, edit))
        return Rendered(image, {"label": label}, {"eyes": regions[SIDES[0]] | regions[SIDES[1]], **regions})

    def _frame(self, parameters: Mapping[str, Any]) -> Placement:
        side = float(min(self.image_size))
        middle = [
            size / 2 + parameters[way] * side for size, way in zip(self.image_size, ("down", "across"), strict=True)
        ]
        return Placement((middle[0], middle[1]), side, parameters["turn"])


def _draw_eyes(context: Context) -> dict[str, Any]:
    """Sizes and places in shares of the image's shorter side."""
    choices = Choices(context.stream("eyes"))
    tall, wide = choices.between(0.066, 0.092), choices.between(0.06, 0.084)
    ratios = [1.0, choices.between(0.86, 1.0)]
    if choices.chance(0.5):
        ratios.reverse()
    return {
        **_draw_place(choices),
        "gap": choices.between(0.02, 0.05),
        "radii": [[tall * ratio, wide * ratio] for ratio in ratios],
        "pupil": choices.between(0.38, 0.55),
        "gaze": [choices.between(-0.3, 0.3), choices.between(-0.3, 0.3)],
        **{colour: list(_gleam(choices, colour)) for colour in COLOURS},
    }


def _draw_place(choices: Choices) -> dict[str, Any]:
    """The figure's place in shares of the image's shorter side, and its turn."""
    return {
        "down": choices.between(-0.15, -0.09),
        "across": choices.between(-0.05, 0.05),
        "turn": choices.between(-0.08, 0.08),
    }


def _draw_keys(context: Context) -> dict[str, Any]:
    return {name: context.stream(name).key() for name in REDRAWN}


def _gleam(choices: Choices, colour: str) -> Tint:
    """A shade of white or of yellow: blue is at least 225 in the one and at most 75 in the other."""
    if colour == "white":
        return choices.count(240, 255), choices.count(240, 255), choices.count(225, 255)
    return choices.count(242, 255), choices.count(200, 224), choices.count(15, 75)


def _eyes(parameters: Mapping[str, Any]) -> dict[str, Eye]:
    """Both eyes, as far from the figure's middle line as their gap says."""
    eyes = {}
    for side, sign, (tall, wide) in zip(SIDES, (-1, 1), parameters["radii"], strict=True):
        middle = (0.0, sign * (parameters["gap"] / 2 + wide))
        eyes[side] = Eye(middle, (tall, wide), parameters["pupil"], tuple(parameters["gaze"]))
    return eyes


def _visible_eyes(edit: Edit) -> list[str]:
    check_edit(edit, ("eyes", *SIDES), {"eyes": COLOURS})
    return [] if "eyes" in edit.omit else [side for side in SIDES if side not in edit.omit]


def _colour(parameters: Mapping[str, Any], edit: Edit) -> str:
    return str((edit.change or {}).get("eyes", COLOURS[parameters["label"]]))
