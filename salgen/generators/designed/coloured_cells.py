"""Cells of up to four colours on noise: the class is the colour that most cells have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.generators.designed.designed_images import NEUTRAL, DesignedImages, enlarged
from salgen.generators.interfaces import Context, Edit, Rendered
from salgen.generators.painted_base import check_edit
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float32, Float64, Mask

# Levels of red, green and blue. Their sum is the same for all, so that integrated gradients from black err alike on
# each; any two differ by more than a level in every channel.
COLOURS = ((200, 150, 75), (75, 200, 150), (150, 75, 200), (225, 175, 25))
CLASSES = ("orange", "green", "violet", "yellow")
SPOTS = "spots"
DARK = 128  # levels of the noise


@dataclass(frozen=True)
class ColouredCells(DesignedImages):
    """Spots of two to four colours on noise without them; the class is the colour with the most pixels.

    Made for the networks `colour-counter` and `colour-counter-vit`. The logit of a class is the number of pixels of its
    colour. The exact attribution is 1 at each of these and 0 elsewhere, summed over each cell. The networks do not
    react to noise. The mask is the spots of the class; the twin has noise in their place.
    """

    name: ClassVar[str] = "coloured-cells"
    regions: ClassVar[tuple[str, ...]] = (SPOTS,)  # the spots of the class
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (27, 27)}
    attribution_kind: ClassVar[str] = (
        "number of the cell's pixels that have the colour of the class: Shapley value and occlusion against pixels "
        "of no class, and integrated gradients in the limit of many steps"
    )

    image_size: tuple[int, int] = param((54, 54), "height and width in pixels", low=16)
    classes: int = param(3, "number of colours", low=2, high=len(COLOURS))
    cell: int = param(1, "pixels of each side of a cell, which has one colour; a patch for colour-counter-vit", low=1)
    spot: int = param(3, "cells of each side of a spot", low=1)

    def __post_init__(self) -> None:
        self._check_divides("cell x spot", self.cell * self.spot)
        if self._sites < 12 * self.classes:
            raise SalgenError(
                f"{self.name}: an image {self.image_size[0]}x{self.image_size[1]} has {self._sites} spots of "
                f"{self.cell * self.spot} pixels: {self.classes} colours need {12 * self.classes}"
            )

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The colours."""
        return {"label": CLASSES[: self.classes]}

    def draw(self, context: Context) -> dict[str, Any]:
        """The class, the number and the places of spots of each colour, and the key of the noise."""
        label = context.balanced("label", self.classes)
        shares = context.stream("counts").uniform(self.classes, 0.02, 0.06)
        shares[label] = 0.08 + shares[label]
        counts = np.maximum(1, np.floor(shares * self._sites)).astype(int)
        sites = context.stream("sites").permutation(self._sites)[: counts.sum()]
        spots = [part.tolist() for part in np.split(sites, np.cumsum(counts)[:-1])]
        return {"label": label, "spots": spots, "noise": context.stream("noise").key()}

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same spots of the class; those of other colours elsewhere, on other noise."""
        label, spots = parameters["label"], parameters["spots"]
        sites = context.stream("sites").permutation(self._sites).tolist()
        free = iter(site for site in sites if site not in spots[label])
        again = [own if k == label else [next(free) for _ in own] for k, own in enumerate(spots)]
        return {"label": label, "spots": again, "noise": context.stream("noise").key()}

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Number of spots of each colour."""
        return {f"{name}_spots": len(own) for name, own in zip(CLASSES, parameters["spots"], strict=False)}

    def attribution(self, parameters: Mapping[str, Any]) -> Float32:
        """Float32 (K, rows, columns): for each class the pixels of its colour in each cell."""
        masks = [self._cells(own) for own in parameters["spots"]]
        return np.asarray(masks, dtype=np.float32) * self.cell**2

    def scene(self, parameters: Mapping[str, Any], material: Any) -> Float64:
        """The noise with the spots of other colours."""
        rows, columns = (extent // self.cell for extent in self.image_size)
        levels = Stream.from_key(parameters["noise"], "noise").integers(DARK, 3 * rows * columns)
        cells = levels.reshape(rows, columns, 3)
        colours = np.array(COLOURS[: self.classes])
        near = (abs(cells[:, :, np.newaxis] - colours) < 2).sum(axis=3) > 1  # tents that read a channel
        cells[near.any(axis=2)] = NEUTRAL
        for label, own in enumerate(parameters["spots"]):
            if label != parameters["label"]:
                cells[self._cells(own)] = COLOURS[label]
        return np.asarray(enlarged(cells, self.cell) / 255.0)

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Any, edit: Edit) -> None:
        """The spots of the class; ``omit=("spots",)`` leaves them out."""
        check_edit(edit, (SPOTS,), {})
        if SPOTS not in edit.omit:
            label = parameters["label"]
            canvas[self._pixels(parameters["spots"][label])] = np.array(COLOURS[label]) / 255.0

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The image with the spots; without those of its class it keeps the label that was drawn."""
        shown = [] if SPOTS in edit.omit else parameters["spots"][parameters["label"]]
        return Rendered(image, {"label": parameters["label"]}, {SPOTS: self._pixels(shown)})

    @property
    def _grid(self) -> tuple[int, int]:
        """Rows and columns of spots."""
        height, width = (extent // (self.cell * self.spot) for extent in self.image_size)
        return height, width

    @property
    def _sites(self) -> int:
        return self._grid[0] * self._grid[1]

    def _cells(self, sites: list[int]) -> Mask:
        """The cells of some spots, bool (rows, columns)."""
        chosen = np.zeros(self._sites, dtype=bool)
        chosen[sites] = True
        return enlarged(chosen.reshape(self._grid), self.spot)

    def _pixels(self, sites: list[int]) -> Mask:
        return enlarged(self._cells(sites), self.cell)
