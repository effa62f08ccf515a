"""Base of the drawn stand-ins for Saliency-Bench: a feature on a drawn scene, marked in all images or in some.

References
----------
Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations* (KDD).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.generators.composites.bam import SCENES
from salgen.generators.composites.pasting import Pixels, Window, paste
from salgen.generators.drawing.pictures import resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered
from salgen.generators.painted_base import Drawn, check_edit
from salgen.generators.stand_ins.cutouts.painting import painted
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.sceneries.painting import scenery
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float64, Mask

SMALLEST = 24  # pixels of the longer side of a cutout as it is drawn; smaller ones are drawn so and then shrunk


@dataclass(frozen=True)
class MarkedScene(Drawn):
    """Base of generators of a feature on a drawn scene that says nothing of the class.

    A subclass draws, paints and gives the support of its `feature`; the mask is the region `region`: what the data set
    that is stood in for has marked. In an image that is not marked it is empty, and there is no twin: such an image is
    trained on and not scored by its mask.
    """

    task: ClassVar[str] = "label"
    region: ClassVar[str]
    feature: ClassVar[str]
    takes_no_source: ClassVar[str] = "is drawn and takes none"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]]

    image_size: tuple[int, int] = param((64, 64), "height and width in pixels", low=32)
    marked: float = param(1.0, "share of images that have a mask", low=0.0, high=1.0)

    def draw_feature(self, context: Context, label: int) -> dict[str, Any]:
        """Every random choice of the feature of a class, as JSON values."""
        raise NotImplementedError

    def paint_feature(self, canvas: Float64, parameters: Mapping[str, Any]) -> Mask:
        """Paint the feature on a canvas (H, W, 3) in place; the pixels that it is painted on, bool (H, W)."""
        raise NotImplementedError

    def support(self, parameters: Mapping[str, Any]) -> Mask:
        """The pixels that the feature is painted on, bool (H, W)."""
        return self.paint_feature(np.zeros((*self.image_size, 3)), parameters)

    def mask(self, parameters: Mapping[str, Any]) -> Mask:
        """What is marked, bool (H, W): the whole support, unless a subclass has it otherwise."""
        return self.support(parameters)

    def has_feature(self, parameters: Mapping[str, Any]) -> bool:
        """True where the image shows the feature."""
        return True

    def draw(self, context: Context) -> dict[str, Any]:
        """The class, whether the image is marked, and the choices of the feature and of the scene."""
        label = context.balanced(self.task, len(self.tasks[self.task]))
        marked = bool(context.stream("marked").uniform(1)[0] < self.marked)
        return {self.task: label, "marked": marked, **self.draw_feature(context, label), **self.draw_scene(context)}

    def draw_scene(self, context: Context) -> dict[str, Any]:
        """The kind of the scene and the key of all that is drawn in it."""
        stream = context.stream("scene")
        return {"scene": int(stream.integers(len(SCENES), 1)[0]), "scene_key": stream.key()}

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same feature on another scene."""
        return {**parameters, **self.draw_scene(context)}

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """The feature, where there is one; it can be left out of images that are not marked too."""
        return [self.feature] if self.has_feature(parameters) else []

    def scene(self, parameters: Mapping[str, Any], material: Any) -> Float64:
        """The scene alone, float64 (H, W, 3) in [0, 1]."""
        return scenery(SCENES[parameters["scene"]], self.scene_stream(parameters), self.image_size) / 255.0

    def scene_stream(self, parameters: Mapping[str, Any]) -> Stream:
        """The random numbers of all that is drawn in the scene."""
        return Stream.from_key(parameters["scene_key"], "scene")

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Any, edit: Edit) -> None:
        """Paint the feature, unless it is left out."""
        if self._shows(parameters, edit):
            self.paint_feature(canvas, parameters)

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The image with its labels, what is marked, and the feature's support."""
        nothing = np.zeros(self.image_size, dtype=bool)
        shown = self._shows(parameters, edit)
        marked = self.mask(parameters) if shown and parameters["marked"] else nothing
        support = self.support(parameters) if shown else nothing
        return Rendered(image, self.labels(parameters), {self.feature: support} | {self.region: marked})

    def labels(self, parameters: Mapping[str, Any]) -> dict[str, int]:
        """The class, as it was drawn."""
        return {self.task: parameters[self.task]}

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit | None:
        """The scene without the feature, where the image shows it and is marked."""
        return Edit(omit=(self.feature,)) if parameters["marked"] and self.has_feature(parameters) else None

    def target(self, task: str) -> str:
        """What is marked."""
        return self.region

    def region_names(self) -> list[str]:
        """The feature's support and what is marked, which may be the same."""
        return list(dict.fromkeys((self.feature, self.region)))

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Whether the image is marked."""
        return {"marked": int(parameters["marked"])}

    def _shows(self, parameters: Mapping[str, Any], edit: Edit) -> bool:
        check_edit(edit, (self.feature,), {})
        return self.feature not in edit.omit and self.has_feature(parameters)


@dataclass(frozen=True)
class CutoutScene(MarkedScene):
    """Base of generators whose feature is cutouts, pasted one after the other."""

    def pieces(self, parameters: Mapping[str, Any]) -> Sequence[tuple[Pixels, Window]]:
        """The cutouts, uint8 (h, w, 4), with their windows, from the back to the front."""
        raise NotImplementedError

    def paint_feature(self, canvas: Float64, parameters: Mapping[str, Any]) -> Mask:
        """Paste the cutouts by their alpha."""
        found = np.zeros(self.image_size, dtype=bool)
        for picture, window in self.pieces(parameters):
            paste(canvas, picture, window)
            found[window.slices] |= picture[..., 3] > 0
        return found

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Whether the image is marked, size in shares of the image's shorter side, place in shares of the free room."""
        row, column = parameters["place"]
        return {**super().factors(parameters), "size": parameters["size"], "row": row, "column": column}

    def draw_place(self, context: Context, sizes: tuple[float, float]) -> dict[str, Any]:
        """A size between two, a place, and a key of all else that is drawn."""
        stream = context.stream("place")
        size, row, column = stream.uniform(3).tolist()
        return {"size": sizes[0] + (sizes[1] - sizes[0]) * size, "place": [row, column], "feature_key": stream.key()}

    def pixels(self, share: float) -> int:
        """A share of the image's shorter side in whole pixels, at least 1."""
        return max(int(share * min(self.image_size)), 1)

    def window(self, size: tuple[int, int], place: Sequence[float]) -> Window:
        """The window of a size at a place among those where it lies in the image."""
        row, column = (
            int(share * (side - length + 1)) for share, side, length in zip(place, self.image_size, size, strict=True)
        )
        return Window(row, column, *size)


@lru_cache(maxsize=4)  # painting and describing a sample ask for the same ones
def cutout(drawn: Sketch, key: int, side: int) -> Pixels:
    """A sketch as a cutout whose longer side has `side` pixels, uint8 (h, w, 4); a key decides its looks."""
    picture = painted(drawn, Stream.from_key(key, "cutout"), max(side, SMALLEST))
    height, width = picture.shape[:2]
    if side < SMALLEST:
        scale = side / SMALLEST
        picture = resize_rgb(picture, (max(int(height * scale), 1), max(int(width * scale), 1)))
    return picture
