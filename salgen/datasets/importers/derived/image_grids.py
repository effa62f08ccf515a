"""Grids of images: a classifier's logit can depend on one cell alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self
import numpy as np
from salgen.datasets.importers.derived.derived import Derived, Images, SalgenData
from salgen.errors import SalgenError
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.generators.painted_base import check_edit
from salgen.parameters import param
from salgen.types import Mask

DISCONNECTED, GRIDPG = "disconnected", "gridpg"
CELL, COPY, TWIN = "cell", "copy", "twin"


@dataclass(frozen=True)
class ImageGrids(Derived):
    """Images of another salgen data set in grids of 2 x 2 or 3 x 3: in which cell does a method see a class?

    Made for the networks `difull` and `dipart` (setting `disconnected`), which have a head for each cell, and `gridpg`.
    They wrap a trained network. Each sample is about one cell, its target. The mask is that cell, so
    `energy-pointing-game` is the localisation score of Rao et al.

    In `disconnected` a class is a cell with a class of the images. Another cell shows another image of the target's
    class, which the target's head does not see. In `gridpg` a class is one of the images, and no two cells show the
    same. Every image is the target of one grid of the same split, and the others are drawn at random. The twin has an
    image of another class as the target; redraws have other images around it.

    References
    ----------
    Rao et al. 2022, *Towards better understanding attribution methods*, section 3, doi:10.48550/arXiv.2205.10435. Böhle
    et al. 2021, *Convolutional dynamic alignment networks for interpretable classifications*, GridPG,
    doi:10.1109/CVPR46437.2021.00990.
    """

    name: ClassVar[str] = "image-grids"
    # the target's cell, and the one with another image of its class, empty if there is none
    regions: ClassVar[tuple[str, ...]] = (CELL, COPY)
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
        """With the size of a grid of the source's images, and their classes."""
        if self.setting == GRIDPG and len(source.classes) < self.cells**2:
            raise SalgenError(
                f"{self.name}: {source.dataset.path} has {len(source.classes)} classes, and {self.cells}x{self.cells} "
                f"cells of different ones need {self.cells**2}: choose another data set, or setting={DISCONNECTED}"
            )
        spec = source.dataset.spec
        height, width = (extent * self.cells for extent in spec.image_size)
        return replace(self, image_size=(height, width), bit_depth=spec.bit_depth, classes=source.classes)

    def draw(self, context: Context) -> dict[str, Any]:
        """The images of the cells, row by row, their classes, the target's cell, its copy's, and the twin's image."""
        images: Images = context.material.load(context.split)
        target = int(context.stream("targets", key=0).permutation(len(images.labels))[context.index])
        label, count = int(images.labels[target]), self.cells**2
        order = context.stream("cells").permutation(count).tolist()
        placed = {"target": order[0], "copy": order[1] if self.setting == DISCONNECTED else None}
        another = [k for k in images.by_class if k != label] or [label]
        twins = images.by_class[another[int(context.stream("twin class").integers(len(another), 1)[0])]]
        twin = int(twins[int(context.stream("twin").integers(len(twins), 1)[0])])
        return {"split": context.split, **placed, **self._cells(context, target, placed), "twin": twin}

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same target among other images; the copy's cell shows another image of the class."""
        target = parameters["images"][parameters["target"]]
        return {**parameters, **self._cells(context, target, parameters)}

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit:
        """An image of another class in the target's cell."""
        return Edit(change={CELL: TWIN})

    def render(self, parameters: Mapping[str, Any], material: SalgenData, edit: Edit) -> Rendered:
        """The grid, with a black cell for ``omit=("cell",)``, or the twin for ``change={"cell": "twin"}``."""
        check_edit(edit, (CELL,), {CELL: (TWIN,)})
        target, copy, numbers = parameters["target"], parameters["copy"], list(parameters["images"])
        if edit.change:
            numbers[target] = parameters["twin"]
        levels = material.load(parameters["split"]).levels[numbers]
        if CELL in edit.omit:
            levels[target] = 0
        rows = levels.reshape(self.cells, self.cells, *levels.shape[1:])
        image = np.concatenate([np.concatenate(list(row), axis=1) for row in rows])
        shown = [self._class(cell, k) for cell, k in enumerate(parameters["classes"])]
        regions = {CELL: self._cell(None if CELL in edit.omit else target), COPY: self._cell(copy)}
        return Rendered(image, {"label": shown[target]}, regions, present={"label": tuple(sorted(set(shown)))})

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """The number of the target's cell, row by row."""
        return {"target": parameters["target"]}

    def cluster(self, parameters: Mapping[str, Any], material: SalgenData) -> str:
        """That of the target's image."""
        image: int = parameters["images"][parameters["target"]]
        return material.load(parameters["split"]).clusters[image]

    def _cells(self, context: Context, target: int, placed: Mapping[str, Any]) -> dict[str, list[int]]:
        """Images and classes of all cells: the target, its copy, and others drawn at random."""
        images: Images = context.material.load(context.split)
        label, count = int(images.labels[target]), self.cells**2
        others = [k for k in context.stream("classes").permutation(len(self.classes)).tolist() if k in images.by_class]
        others.remove(label)
        if self.setting == GRIDPG and len(others) < count - 1:
            raise SalgenError(f"{self.name}: split {context.split} has images of {len(others) + 1} classes only")
        again = others if self.setting == GRIDPG else [*others, label]  # classes come again where there are too few
        rest = iter((again * count)[:count])
        kinds = [label if cell in (placed["target"], placed["copy"]) else next(rest) for cell in range(count)]
        chosen, picks = [], context.stream("images")
        for cell, kind in enumerate(kinds):
            own = images.by_class[kind]
            own = own[own != target] if len(own) > 1 else own
            drawn = int(own[int(picks.integers(len(own), 1)[0])])
            chosen.append(target if cell == placed["target"] else drawn)
        return {"images": chosen, "classes": kinds}

    def _class(self, cell: int, label: int) -> int:
        return label if self.setting == GRIDPG else cell * len(self.classes) + label

    def _cell(self, number: int | None) -> Mask:
        mask = np.zeros(self.image_size, dtype=bool)
        if number is not None:
            height, width = (extent // self.cells for extent in self.image_size)
            row, column = divmod(number, self.cells)
            mask[row * height : (row + 1) * height, column * width : (column + 1) * width] = True
        return mask
