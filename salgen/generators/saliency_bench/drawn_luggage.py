"""Drawn X-ray images of luggage, half of them with tools and weapons: a stand-in for Security-XAI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.generators.composites.pasting import Window, filled_box
from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.drawing.choices import Choices
from salgen.generators.drawing.outlines import box
from salgen.generators.drawing.shapes import polygon, polygons
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.generators.saliency_bench.marked_scene import MarkedScene
from salgen.generators.stand_ins.cutouts.painting import CHOICES, sketch
from salgen.generators.stand_ins.cutouts.sketch import Sketch, posed
from salgen.seeding import Stream
from salgen.types import Float64, Mask

TOOLS = tuple(catalogue("tools.json"))
THINGS = (
    *("apple", "backpack", "banana", "book", "bottle", "cell phone", "clock", "cup", "fork", "hair drier", "handbag"),
    *("keyboard", "laptop", "mouse", "remote", "spoon", "teddy bear", "tie", "toothbrush", "umbrella", "vase"),
)
# The light that passes: organic matter is shown in orange, light metal in green, steel in blue
PASSED = {"organic": (0.97, 0.76, 0.5), "light": (0.68, 0.87, 0.6), "steel": (0.5, 0.62, 0.88)}
OF_TOOLS = {"grip": (0.97, 0.76, 0.5), "steel": (0.4, 0.5, 0.82), "dense": (0.26, 0.34, 0.68)}
MATTER = ("organic", "organic", "light", "steel")
CLUTTER = (5, 9)  # least and most things
SIZES = {"thing": (0.3, 0.6), "tool": (0.24, 0.36)}  # longer side, in shares of the image's shorter one
BAG = (0.04, 0.1, 0.96, 0.9)  # left, top, right, bottom, in shares of the image
MOST_TOOLS = 2


@dataclass(frozen=True)
class DrawnLuggage(MarkedScene):
    """Drawn X-ray images of luggage with and without tools and weapons: a stand-in for security-xai (Security-XAI).

    In half of the images one or two of gun, hammer, knife, pliers, scissors and wrench lie among other things. All let
    light pass, so they are seen through one another. As in Saliency-Bench the mask, region `boxes`, is the union of the
    tight boxes around them. Images of the class `clear` have none. The region `tools` is the pixels that they cover;
    the twin lacks them. A number from these drawings is not a number on Security-XAI.
    """

    name: ClassVar[str] = "drawn-luggage"
    region: ClassVar[str] = "boxes"
    feature: ClassVar[str] = "tools"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": ("clear", "prohibited")}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {}),
        "small": Scale({"train": 8000, "val": 500, "test": 1000}, {}),
        "full": Scale({"train": 12_358, "val": 2648, "test": 2648}, {"image_size": (224, 224)}),
    }

    def draw_feature(self, context: Context, label: int) -> dict[str, Any]:
        """The kinds of tools, if there are any, and the key of their sizes, places and poses."""
        stream = context.stream("tools")
        count, *kinds = stream.uniform(1 + MOST_TOOLS).tolist()
        tools = [TOOLS[int(kind * len(TOOLS))] for kind in kinds[: 1 + int(count * MOST_TOOLS)]]
        return {"tools": tools if label else [], "feature_key": stream.key()}

    def draw_scene(self, context: Context) -> dict[str, Any]:
        """The key of the bag and of all that is harmless in it."""
        return {"scene_key": context.stream("scene").key()}

    def has_feature(self, parameters: Mapping[str, Any]) -> bool:
        """True where there are tools."""
        return bool(parameters["tools"])

    def scene(self, parameters: Mapping[str, Any], material: Any) -> Float64:
        """The bag with the harmless things in it."""
        stream = self.scene_stream(parameters)
        choices, size = Choices(stream), self.image_size
        canvas = np.full((*size, 3), choices.between(0.93, 1.0))
        corners = box(*BAG, choices.between(0.04, 0.16))[0][:, ::-1] * size
        lining = polygon(corners, size) * (0.3 + 0.2 * smooth_field(stream, size, (3, 3)))
        canvas *= 1 - lining[..., np.newaxis] * (1 - np.array(PASSED["organic"]))
        for _ in range(choices.count(*CLUTTER)):
            thing, passed = sketch(choices.of(THINGS)), PASSED[choices.of(MATTER)]
            density = choices.between(0.5, 0.9)
            for part in self._silhouette(thing, stream, SIZES["thing"]):
                part.dim(canvas, passed, density)
        return canvas

    def paint_feature(self, canvas: Float64, parameters: Mapping[str, Any]) -> Mask:
        """Dim what lies behind the tools."""
        found = np.zeros(self.image_size, dtype=bool)
        for part in chain(*self._tools(parameters)):
            part.dim(canvas, OF_TOOLS[part.tint], 1.0)
            found[part.window.slices] |= part.cover > 0
        return found

    def supports(self, parameters: Mapping[str, Any]) -> list[Mask]:
        """The pixels that each tool covers, at least in part."""
        supports = []
        for parts in self._tools(parameters):
            supports.append(np.zeros(self.image_size, dtype=bool))
            for part in parts:
                supports[-1][part.window.slices] |= part.cover > 0
        return supports

    def mask(self, parameters: Mapping[str, Any]) -> Mask:
        """The tight boxes around the tools."""
        return np.asarray(np.any([filled_box(support) for support in self.supports(parameters)], axis=0))

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The image with its class, which is that of other luggage where the tools are left out."""
        found = super().describe(image, parameters, material, edit)
        return replace(found, labels={self.task: int(found.regions[self.feature].any())})

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Whether the image is marked, and the number of tools."""
        return {**super().factors(parameters), "tools": len(parameters["tools"])}

    def _tools(self, parameters: Mapping[str, Any]) -> list[list[Silhouette]]:
        stream = Stream.from_key(parameters["feature_key"], "tools")
        return [self._silhouette(_tool(name), stream, SIZES["tool"]) for name in parameters["tools"]]

    def _silhouette(self, drawn: Sketch, stream: Stream, sizes: tuple[float, float]) -> list[Silhouette]:
        """A thing in any pose, at any place in the bag."""
        choices = Choices(stream, CHOICES)
        side = int(choices.between(*sizes) * min(self.image_size))
        parts, size = posed(replace(drawn, lean=1.0), side, choices)
        (height, width), (left, top, right, bottom) = size, BAG
        row = int((top + (bottom - top) * choices.between(0.0, 1.0)) * (self.image_size[0] - height))
        column = int((left + (right - left) * choices.between(0.0, 1.0)) * (self.image_size[1] - width))
        window = Window(row, column, height, width)
        return [
            Silhouette(window, polygons(corners, [len(outline) for outline in part.outlines], size), part.tint)
            for part, corners in parts
        ]


@dataclass(frozen=True, eq=False)
class Silhouette:
    """A part of a thing that light passes."""

    window: Window  # the pixels of the thing
    cover: Float64  # share of each pixel that the part covers, float64 (h, w)
    tint: str  # the name of its colour in the sketch

    def dim(self, canvas: Float64, passed: Sequence[float], density: float) -> None:
        """Take the light that does not pass from a canvas (H, W, 3), in place."""
        canvas[self.window.slices] *= 1 - (density * self.cover[..., np.newaxis]) * (1 - np.array(passed))


@cache
def _tool(name: str) -> Sketch:
    return Sketch({}, catalogue("tools.json")[name], give=0.5)
