"""Grids of images: a classifier's logit can depend on one cell alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from salgen.datasets.importers.derived.derived import Derived
from salgen.datasets.importers.derived.salgen_data import Images, SalgenData
from salgen.datasets.importers.layouts.imported import refuse_edit
from salgen.errors import SalgenError
from salgen.generators.declarations import Context, Edit, Rendered, Scale
from salgen.parameters import param
from salgen.types import Mask

NAMES = ("image-grids",)

DISCONNECTED, GRIDPG = "disconnected", "gridpg"
CELL, COPY = "cell", "copy"


@dataclass(frozen=True)
class ImageGrids(Derived):
    """Images of another salgen data set in grids of 2 x 2 or 3 x 3: in which cell does a method see a class?

    Made for the networks `difull` and `dipart` (setting `disconnected`), which have a head for each cell, and `gridpg`,
    which wrap a trained network. Each sample is about one cell, its target: the mask is that cell, so `energy`, the
    share of a map's positive mass in the mask, is the localisation score of Rao et al.

    Setting `disconnected`: a class is a cell with a class of the images, and another cell shows another image of the
    target's class, which the target's head does not see. Setting `gridpg`: a class is one of the images, and no two
    cells show the same. Every image of the data set is the target of one grid of the same split, and the others are
    drawn at random.

    References
    ----------
    Rao et al. 2022, *Towards better understanding attribution methods* (CVPR), section 3; GridPG of Böhle et al. 2021,
    *Convolutional dynamic alignment networks for interpretable classifications* (CVPR).
    """

    name: ClassVar[str] = "image-grids"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "image-grids"
    quick: ClassVar[Mapping[str, Any]] = {}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 200, "val": 50, "test": 100}, {}),
        "small": Scale({"train": 400, "val": 100, "test": 400}, {}),
        "full": Scale({"train": 2000, "val": 400, "test": 2000}, {}),
    }

    cells: int = param(2, "cells in a row, and in a column", choices=(2, 3))
    setting: str = param(
        DISCONNECTED, "for the networks difull and dipart, or for gridpg", choices=(DISCONNECTED, GRIDPG)
    )

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The class of the target, with its cell in the setting `disconnected`."""
        if self.setting == GRIDPG:
            return {"label": self.classes}
        places = [(row, column) for row in range(1, self.cells + 1) for column in range(1, self.cells + 1)]
        return {"label": tuple(f"{name} at {row},{column}" for row, column in places for name in self.classes)}

    def fitted(self, source: SalgenData) -> Self:
        """With the size of a grid of the source's images, and their classes.

        Raises
        ------
        SalgenError
            If there are too few classes for cells that all differ.
        """
        if self.setting == GRIDPG and len(source.classes) < self.cells**2:
            raise SalgenError(
                f"{self.name}: {source.dataset.path} has {len(source.classes)} classes, and {self.cells}x{self.cells} "
                f"cells of different ones need {self.cells**2}: choose another data set, or setting={DISCONNECTED}"
            )
        spec = source.dataset.spec
        height, width = (extent * self.cells for extent in spec.image_size)
        return replace(self, image_size=(height, width), bit_depth=spec.bit_depth, classes=source.classes)

    def draw(self, context: Context) -> dict[str, Any]:
        """The images of the cells, row by row, their classes, and the number of the target's cell and its copy's."""
        images: Images = context.material.load(context.split)
        target = int(context.stream("targets", key=0).permutation(len(images.labels))[context.index])
        label, count = int(images.labels[target]), self.cells**2
        others = [k for k in context.stream("classes").permutation(len(self.classes)).tolist() if k in images.by_class]
        others.remove(label)
        if self.setting == GRIDPG and len(others) < count - 1:
            raise SalgenError(f"{self.name}: split {context.split} has images of {len(others) + 1} classes only")
        shown = others if self.setting == GRIDPG else [label, *others]
        classes = [label, *(shown * count)[: count - 1]]  # classes come again where there are too few
        chosen, picks = [target], context.stream("images")
        for k in classes[1:]:
            places = images.by_class[k]
            own = places[places != target] if k == label and len(places) > 1 else places
            chosen.append(int(own[int(picks.integers(len(own), 1)[0])]))
        order = context.stream("cells").permutation(count).tolist()
        return {
            "split": context.split,
            "images": [chosen[place] for place in order],
            "classes": [classes[place] for place in order],
            "target": order.index(0),
            "copy": order.index(1) if self.setting == DISCONNECTED else None,
        }

    def render(self, parameters: Mapping[str, Any], material: SalgenData, edit: Edit) -> Rendered:
        """The grid."""
        refuse_edit(edit)
        levels = material.load(parameters["split"]).levels[parameters["images"]]
        rows = levels.reshape(self.cells, self.cells, *levels.shape[1:])
        image = np.concatenate([np.concatenate(list(row), axis=1) for row in rows])
        shown = [self._class(cell, k) for cell, k in enumerate(parameters["classes"])]
        target, copy = parameters["target"], parameters["copy"]
        regions = {CELL: self._cell(target), COPY: self._cell(copy)}
        return Rendered(image, {"label": shown[target]}, regions, present={"label": tuple(sorted(set(shown)))})

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: SalgenData, twins: bool
    ) -> list[tuple[Rendered, NDArray[Any] | None]]:
        """Samples, without twins."""
        return [(self.render(parameters, material, Edit()), None) for parameters in batch]

    def counterfactual(self, parameters: Mapping[str, Any]) -> None:
        """None: nothing is taken away."""

    def target(self, task: str) -> str:
        """The target's cell."""
        return CELL

    def region_names(self) -> list[str]:
        """The target's cell, and the one with another image of its class, empty if there is none."""
        return [CELL, COPY]

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """The number of the target's cell, row by row."""
        return {"target": parameters["target"]}

    def cluster(self, parameters: Mapping[str, Any], material: SalgenData) -> str:
        """That of the target's image."""
        image: int = parameters["images"][parameters["target"]]
        return material.load(parameters["split"]).clusters[image]

    def _class(self, cell: int, label: int) -> int:
        return label if self.setting == GRIDPG else cell * len(self.classes) + label

    def _cell(self, number: int | None) -> Mask:
        mask = np.zeros(self.image_size, dtype=bool)
        if number is not None:
            height, width = (extent // self.cells for extent in self.image_size)
            row, column = divmod(number, self.cells)
            mask[row * height : (row + 1) * height, column * width : (column + 1) * width] = True
        return mask
