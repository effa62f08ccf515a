"""Crops of traffic lights: red or green, told apart by the colour of the lamp alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.generators.drawing.photographs import PHOTOGRAPHS, Photographs, open_photographs
from salgen.generators.drawing.shapes import paint
from salgen.generators.interfaces import SCALES, Context, Edit, Rendered, Scale
from salgen.generators.painted_base import Painted, check_edit
from salgen.generators.traffic_lights import traffic_light
from salgen.generators.traffic_lights.streets import draw_street, seen_by_camera, street
from salgen.parameters import param
from salgen.types import Float64

COLOURS = ("green", "red")  # in the order of the labels
END_LENSES = (2, 0)  # where the lamp of each class is in real traffic lights: green at the bottom, red at the top
HOUSINGS = ((0.10, 0.102, 0.105), (0.14, 0.15, 0.14), (0.08, 0.12, 0.10), (0.46, 0.37, 0.08))  # mostly black


@dataclass(frozen=True)
class DrawnLights(Painted):
    """Drawn traffic lights, red or green by the colour of the lamp: a stand-in for lisa-lights.

    A dark housing with three lenses, one of them lit, before a photograph by day or distant lights by night. The mask
    `lamp` is all that the lit lamp touches, its halo included. `core` is where it hides at least half of what is behind
    it. The twin shows the other colour in the same lens. The lamp's colour alone tells the classes apart. Both colours
    have the same brightness and shape, and both classes show other red and green things.

    In real lights red is at the top and green at the bottom, as here with ``position_bias=1``. A model may then learn
    the place. It will not change its mind on the twin, whose lamp stays in its place, so the reliance certificate finds
    the shortcut. With ``position_bias=0`` the lamp is in either end lens whatever its colour. Values between are the
    share of lamps that are certain to be in their colour's end.
    """

    name: ClassVar[str] = "drawn-lights"
    regions: ClassVar[tuple[str, ...]] = ("lamp", "core")  # the lamp with its halo, and its core
    family: ClassVar[str] = "lisa-lights"  # names the streams of random numbers
    default_source: ClassVar[str] = PHOTOGRAPHS
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": COLOURS}
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (24, 24)}
    scales: ClassVar[Mapping[str, Scale]] = {
        **SCALES,
        "full": Scale({"train": 20_000, "val": 2000, "test": 8000}, {"image_size": (224, 224)}),
    }

    position_bias: float = param(
        0.0, "share of lamps certain to be in their colour's end; 1 in real data", low=0.0, high=1.0
    )

    def open_source(self, source: str | None) -> Photographs:
        """The shipped photographs."""
        return open_photographs(self.name, source, "lisa-lights")

    def draw(self, context: Context) -> dict[str, Any]:
        """The class, the lamp with its place, and what is behind it."""
        label = context.balanced("label")
        stream = context.stream("position")
        end = label if stream.uniform(1)[0] < self.position_bias else int(stream.integers(2, 1)[0])
        lamp: dict[str, Any] = {"label": label, "position": END_LENSES[end]}
        lamp |= {"pose": _drawn(context, "pose", POSE), "lamp": _drawn(context, "lamp", LAMP)}
        return {**lamp, **_draw_scene(context, lamp)}

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same lamp in a housing of another colour, on another street in another light."""
        return {**parameters, **_draw_scene(context, parameters)}

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same lamp in a housing that stands elsewhere, on another street."""
        moved = {**parameters, "pose": _drawn(context, "pose", POSE)}
        return {**moved, **_draw_scene(context, moved)}

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit:
        """The other colour in the same lens."""
        return Edit(change={"lamp": COLOURS[1 - parameters["label"]]})

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Lens that is lit (0 top, 2 bottom), row and column of its centre in pixels, and night or day (1 or 0)."""
        row, column = self._centre(parameters)
        night = parameters["street"]["night"]
        return {"position": parameters["position"], "row": row, "column": column, "night": night}

    def scene(self, parameters: Mapping[str, Any], material: Photographs) -> Float64:
        """Street and unlit traffic light, as the camera sees them."""
        canvas = street(parameters["street"], material, self.image_size)
        traffic_light.paint_housing(canvas, self._frame(parameters), parameters["housing"])
        camera = parameters["camera"]
        return seen_by_camera(np.clip(canvas, 0.0, 1.0), camera["pixels"], camera["noise"], camera["grain"])

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Photographs, edit: Edit) -> None:
        """The lit lamp; ``omit=("lamp",)`` leaves it out, ``change={"lamp": "red"}`` or ``"green"`` says its colour."""
        check_edit(edit, ("lamp",), {"lamp": COLOURS})
        if "lamp" in edit.omit:
            return
        lamp, frame = parameters["lamp"], self._frame(parameters)
        ends = traffic_light.RED_FULL if self._lamp_colour(parameters, edit) == "red" else traffic_light.GREEN_FULL
        colour = traffic_light.light_colour(ends, lamp["tone"], lamp["luma"])
        paint(
            canvas,
            traffic_light.lamp_colours(frame, parameters["position"], colour, lamp["heat"]),
            self._alpha(parameters, frame),
        )

    def describe(
        self, image: NDArray[Any], parameters: Mapping[str, Any], material: Photographs, edit: Edit
    ) -> Rendered:
        """The image with its label and regions; an unlit lamp has none, and keeps the label that was drawn."""
        alpha = self._alpha(parameters, self._frame(parameters))
        lit = "lamp" not in edit.omit
        regions = {"lamp": (alpha > 0) & lit, "core": (alpha >= 0.5) & lit}
        return Rendered(image, {"label": COLOURS.index(self._lamp_colour(parameters, edit))}, regions)

    def _frame(self, parameters: Mapping[str, Any]) -> traffic_light.HousingCoordinates:
        return traffic_light.housing_coordinates(parameters["pose"], self.image_size)

    def _alpha(self, parameters: Mapping[str, Any], frame: traffic_light.HousingCoordinates) -> Float64:
        lamp = parameters["lamp"]
        return traffic_light.lamp_alpha(frame, parameters["position"], lamp["halo"], lamp["glow"])

    def _lamp_colour(self, parameters: Mapping[str, Any], edit: Edit) -> str:
        return str((edit.change or {}).get("lamp", COLOURS[parameters["label"]]))

    def _centre(self, parameters: Mapping[str, Any]) -> tuple[float, float]:
        """Row and column of the lit lens in pixels, to a hundredth."""
        pose = parameters["pose"]
        along = (parameters["position"] - 1) * traffic_light.PITCH * pose["height"] * min(self.image_size)
        cosine = 1.0 / float(np.sqrt(1.0 + pose["lean"] * pose["lean"]))
        row = pose["row"] * self.image_size[0] + along * cosine
        column = pose["column"] * self.image_size[1] + along * cosine * pose["lean"]
        return round(row, 2), round(column, 2)


# The least value of what is drawn uniformly, and how far it reaches above it
POSE = {
    "row": (0.47, 0.06),
    "column": (0.44, 0.12),
    "height": (0.74, 0.18),
    "lean": (-0.07, 0.14),
    "width": (0.95, 0.45),
}
LAMP = {"tone": (0.0, 1.0), "luma": (0.38, 0.14), "heat": (0.35, 0.5), "halo": (1.35, 0.75), "glow": (0.25, 0.2)}


def _drawn(context: Context, purpose: str, ranges: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    draws = context.stream(purpose).uniform(len(ranges)).tolist()
    return {name: low + reach * draw for (name, (low, reach)), draw in zip(ranges.items(), draws, strict=True)}


def _draw_scene(context: Context, lamp: Mapping[str, Any]) -> dict[str, Any]:
    """Street, look of the housing and camera."""
    pose = lamp["pose"]
    # as far as the halo and the leaning lens
    reach = traffic_light.LENS * pose["height"] * pose["width"] * lamp["lamp"]["halo"] + 0.04
    street_choices = draw_street(context, pose["column"] - reach, pose["column"] + reach)
    camera, key = context.stream("camera"), context.stream("grain").key()
    pixels, noise = int(camera.integers(106, 1)[0]) + 44, float(camera.uniform(1, 0.004, 0.03)[0])
    return {
        "street": street_choices,
        "housing": _draw_housing(context, street_choices["night"]),
        "camera": {"pixels": pixels, "noise": noise, "grain": key},
    }


def _draw_housing(context: Context, night: int) -> dict[str, Any]:
    stream = context.stream("housing")
    kind, pole, plate, border = (int(stream.integers(high, 1)[0]) for high in (8, 3, 3, 3))
    side, light, beyond = stream.uniform(3).tolist()
    return {
        "colour": list(HOUSINGS[max(0, kind - 4)]),
        "pole": pole,
        "plate": 0.05 + 0.05 * beyond if plate else 0.0,
        "border": border,
        "side": 2.0 * side - 1.0,
        "light": (0.15 + 0.25 * light) if night else (0.55 + 0.45 * light),
    }
