"""Textured shapes of fifty classes, at any place and size, on cluttered photographs: a stand-in for ImageNet-S50.

A silhouette is a closed outline around the origin, rows pointing down. A texture gives each pixel's share of the second
colour. Both are sums and products of the numbers in a recipe, so that any machine gets the same pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.generators.drawing.catalogue import catalogue, read_points
from salgen.generators.drawing.outlines import smooth, turned
from salgen.generators.drawing.patterns import bands, spots
from salgen.generators.drawing.photographs import PHOTOGRAPHS, Photographs, open_photographs
from salgen.generators.drawing.shapes import oval, paint, polygon, window_around
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.generators.painted_base import Painted, check_edit
from salgen.generators.textured.clutter import cluttered, draw_background
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float64, Mask

SILHOUETTES = catalogue("silhouettes.json")  # (row, column) of a whole outline, or of its right half from the top down
SHAPES = tuple(SILHOUETTES)


@lru_cache(maxsize=len(SHAPES))
def outline(shape: str) -> Float64:
    """A silhouette's corners, float64 (N, 2), centred on its bounding box and scaled to an area of 1."""
    entry = SILHOUETTES[shape]
    corners = read_points(entry["points"] if "points" in entry else entry["half"])[0]
    if "half" in entry:
        left = corners[corners[:, 1] != 0][::-1] * (1, -1)
        corners = np.concatenate([corners, left])
    if "smooth" in entry:
        corners = smooth(corners)
    corners = corners - (corners.max(axis=0) + corners.min(axis=0)) / 2
    following = np.roll(corners, -1, axis=0)
    area = abs(float((corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0]).sum())) / 2
    return np.asarray(np.round(corners / np.sqrt(area), 6))


def _checks(places: Float64, pixel: float, stream: Stream) -> Float64:
    start = stream.uniform(2)
    down, across = (2 * _soft(0.5 * bands((places[..., axis] + start[axis]) / 0.5), pixel) - 1 for axis in (0, 1))
    return np.asarray((1 + down * across) / 2)


def _dots(places: Float64, pixel: float, stream: Stream) -> Float64:
    start, period = stream.uniform(2), 0.33
    down, across = ((places[..., axis] + start[axis]) / period for axis in (0, 1))
    return _soft(spots(down, across, 0.33) * period, pixel)


# The share of the second colour, float64 (H, W) in [0, 1], by each pixel's (row, column) on the object, whose area is
# 1, (H, W, 2); by a pixel's side there, over which edges are softened; and by a stream.
TEXTURES: dict[str, Callable[[Float64, float, Stream], Float64]] = {
    "stripes": lambda places, pixel, stream: _soft(
        0.3 * bands((places[..., 0] + float(stream.uniform(1)[0])) / 0.3), pixel
    ),
    "checks": _checks,
    "dots": _dots,
    "rings": lambda places, pixel, stream: _soft(
        0.28 * bands((np.sqrt((places * places).sum(axis=-1)) + float(stream.uniform(1)[0])) / 0.28), pixel
    ),
    "halves": lambda places, pixel, stream: _soft(places[..., 1] + 0.2 * (float(stream.uniform(1)[0]) - 0.5), pixel),
}


def _soft(distance: Float64, pixel: float) -> Float64:
    """A step from 0 to 1 across an edge, within one pixel."""
    return np.clip(0.5 + distance / pixel, 0.0, 1.0)


CLASSES = tuple(f"{shape}_{pattern}" for shape in SHAPES for pattern in TEXTURES)
FEATURE = "object"
MARGIN = 1.0  # pixels between a thing and the image's edge


@dataclass(frozen=True)
class TexturedShapes(Painted):
    """Drawn shapes of fifty classes on cluttered photographs: a stand-in for imagenet-s50, which looks otherwise.

    A class is one of ten silhouettes with one of five textures. Colours, light, place, size, turn and background are
    drawn without regard to the class. As in the published masks, some pixels beside the thing are ignored in some
    images: they are outside the region `annotated`.
    """

    name: ClassVar[str] = "textured-shapes"
    regions: ClassVar[tuple[str, ...]] = (FEATURE, "annotated")  # the thing, and all that is not ignored
    family: ClassVar[str] = "imagenet-s50"  # names the streams of random numbers
    default_source: ClassVar[str] = PHOTOGRAPHS
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": CLASSES}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 4000, "val": 200, "test": 200}, {"area": (0.2, 0.6), "tilt": 20.0, "clutter": 4}),
        "small": Scale({"train": 8000, "val": 400, "test": 752}, {"area": (0.1, 0.6)}),
        "full": Scale({"train": 50_000, "val": 2500, "test": 752}, {"image_size": (224, 224)}),
    }

    area: tuple[float, float] = param(
        (0.02, 0.6), "least and most of the image that a thing covers, where it fits", low=0.005, high=0.9, rising=True
    )
    tilt: float = param(35.0, "degrees that a thing may lean either way", low=0.0, high=90.0)
    clutter: int = param(6, "most shapes in the background", low=0, high=40)
    ignored: float = param(0.5, "share of images with pixels that are ignored", low=0.0, high=1.0)
    ignore: str = param("drop", "whether ignored pixels are scored", choices=("drop", "background"))

    @property
    def valid_region(self) -> str | None:
        """The annotated region, or None for the whole image where ignored pixels count as background."""
        return "annotated" if self.ignore == "drop" else None

    def open_source(self, source: str | None) -> Photographs:
        """The shipped photographs."""
        return open_photographs(self.name, source, "imagenet-s50")

    def draw(self, context: Context) -> dict[str, Any]:
        """The class, the thing's place and looks, what is ignored beside it, and the background."""
        label = context.balanced("label", len(CLASSES))
        light = context.stream("light").uniform(3)
        return {
            "label": label,
            **self._draw_place(context),
            "colours": _colours(context.stream("colours")),
            "light": [2 * float(light[0]) - 1, 2 * float(light[1]) - 1, 0.15 + 0.3 * float(light[2])],
            "texture": context.stream("texture").key(),
            "ignored": self._draw_ignored(context.stream("ignored")),
            **draw_background(context, self.clutter),
        }

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same thing before another background."""
        return {**parameters, **draw_background(context, self.clutter)}

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same thing elsewhere, in another size and turn, before another background."""
        return {**self.redraw(parameters, context), **self._draw_place(context)}

    def _draw_place(self, context: Context) -> dict[str, Any]:
        """Size, turn and place of the thing, in shares of the image."""
        place = context.stream("place").uniform(4)
        most = round(float(np.tan(np.pi * self.tilt / 360)), 9)  # half the angle's, the same on every machine
        low, high = (float(np.sqrt(share)) for share in self.area)
        return {
            "side": low + (high - low) * float(place[0]),
            "turn": most * (2 * float(place[1]) - 1),
            "place": [float(place[2]), float(place[3])],
        }

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """The square root of the thing's share of the image, its centre in pixels, and its turn in half tangents."""
        thing, (height, width) = self._thing(parameters), self.image_size
        return {
            "side": thing.side / float(np.sqrt(height * width)),
            "row": float(thing.centre[0]),
            "column": float(thing.centre[1]),
            "turn": parameters["turn"],
            "ignored_parts": len(parameters["ignored"]),
        }

    def scene(self, parameters: Mapping[str, Any], material: Photographs) -> Float64:
        """The photograph with its clutter."""
        return cluttered(parameters, material, self.image_size)

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Photographs, edit: Edit) -> None:
        """The thing, unless it is left out."""
        check_edit(edit, (FEATURE,), {})
        if FEATURE in edit.omit:
            return
        thing = self._thing(parameters)
        paint(canvas[thing.window], self._looks(parameters, thing), thing.coverage)

    def describe(
        self, image: NDArray[Any], parameters: Mapping[str, Any], material: Photographs, edit: Edit
    ) -> Rendered:
        """The class, the thing's support, and what is not ignored."""
        thing = self._thing(parameters)
        support = np.zeros(self.image_size, dtype=bool)
        support[thing.window] = thing.coverage > 0
        annotated = support | ~self._ignored(parameters, thing)
        visible = support & (FEATURE not in edit.omit)
        return Rendered(image, {"label": parameters["label"]}, {FEATURE: visible, "annotated": annotated})

    def _thing(self, parameters: Mapping[str, Any]) -> Thing:
        """The silhouette of the class, as large as wanted or as fits, at a place of those where it is whole."""
        corners = turned(outline(CLASSES[parameters["label"]].rsplit("_", 1)[0]), parameters["turn"])
        low, high = corners.min(axis=0), corners.max(axis=0)
        height, width = self.image_size
        room = np.array(self.image_size) - 2 * MARGIN
        pixels = min(parameters["side"] * float(np.sqrt(height * width)), *(room / (high - low)).tolist())
        centre = MARGIN - pixels * low + np.array(parameters["place"]) * (room - pixels * (high - low))
        corners = pixels * corners + centre
        rows, columns = window = window_around(corners, self.image_size)
        size = rows.stop - rows.start, columns.stop - columns.start
        return Thing(corners, centre, pixels, window, polygon(corners - (rows.start, columns.start), size))

    def _looks(self, parameters: Mapping[str, Any], thing: Thing) -> Float64:
        """The thing's colours (h, w, 3) in its window: two, in a texture, lit from one side."""
        rows, columns = (np.arange(part.start, part.stop) + 0.5 for part in thing.window)
        places = (np.stack(np.broadcast_arrays(rows[:, None], columns), axis=-1) - thing.centre) / thing.side
        _, pattern = CLASSES[parameters["label"]].rsplit("_", 1)
        on_thing = turned(places, -parameters["turn"])
        texture = Stream.from_key(parameters["texture"], "texture")
        share = TEXTURES[pattern](on_thing, 1 / thing.side, texture)[..., None]
        first, second = np.array(parameters["colours"])
        down, across, strength = parameters["light"]
        rows, columns = np.moveaxis(places, -1, 0)
        light = 1 + strength * (down * rows + across * columns - (rows * rows + columns * columns) / 2)
        colours = (first + share * (second - first)) * np.clip(light, 0.5, 1.4)[..., None]
        return np.asarray(np.clip(colours, 0.0, 1.0))

    def _draw_ignored(self, stream: Stream) -> list[list[float]]:
        """Blobs beside the outline: place along it, and radii as shares of the thing's side."""
        chance, count = stream.uniform(2)
        if chance >= self.ignored:
            return []
        draws = stream.uniform(9).reshape(3, 3)[: 1 + int(3 * count)]
        return [[float(at), 0.04 + 0.12 * float(down), 0.04 + 0.12 * float(across)] for at, down, across in draws]

    def _ignored(self, parameters: Mapping[str, Any], thing: Thing) -> Mask:
        """The mask of the blobs, bool (H, W)."""
        ignored = np.zeros(self.image_size, dtype=bool)
        for at, down, across in parameters["ignored"]:
            centre = thing.corners[int(at * len(thing.corners))]
            radii = max(1.5, down * thing.side), max(1.5, across * thing.side)
            ignored |= polygon(oval(centre, radii), self.image_size) > 0
        return ignored


@dataclass(frozen=True, eq=False)
class Thing:
    """A silhouette in its place."""

    corners: Float64  # float64 (N, 2), in pixels
    # centre, side: in pixels; the side is that of a square of its area
    centre: Float64
    side: float
    window: tuple[slice, slice]  # the pixels around it
    coverage: Float64  # float64 (h, w), of the pixels in the window


def _colours(stream: Stream) -> list[list[float]]:
    """Two colours [r, g, b], one bright and one dark, in either order."""
    hue, paleness, level = stream.uniform(2), stream.uniform(2), stream.uniform(2)
    bright = _colour(hue[0], 0.6 * paleness[0], 0.75 + 0.25 * level[0])
    dark = _colour(hue[1], 0.3 + 0.6 * paleness[1], 0.12 + 0.28 * level[1])
    return [bright, dark] if stream.integers(2, 1)[0] else [dark, bright]


def _colour(hue: float, saturation: float, value: float) -> list[float]:
    """[r, g, b] of a colour on the hexagon of hues, all in [0, 1]."""
    turns = (np.array([0.0, 2 / 3, 1 / 3]) + hue) % 1.0
    ramps = np.clip(np.abs(turns * 6 - 3) - 1, 0.0, 1.0)
    return [float(level) for level in value * (1 - saturation * (1 - ramps))]
