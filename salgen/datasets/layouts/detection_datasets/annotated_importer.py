"""Base of importers of annotated photographs: a sample is a pair of an image and a class that it shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.detection_datasets.annotated_copy import BOXES, SEGMENTATION, AnnotatedCopy
from salgen.datasets.layouts.imported import Items, refuse_edit
from salgen.datasets.layouts.mask_limits import MaskLimits
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import read_rgb, resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered
from salgen.parameters import param

OBJECT = "object"


@dataclass(frozen=True, eq=False)
class ClassPairs(Items):
    """The samples of a copy: of test images one for each class, of all others one. `splits` has their items."""

    source: AnnotatedCopy

    def pair(self, context: Context) -> tuple[int, int, int]:
        """The image's place in the order that the seed decides, its number in the table, and the class."""
        table, order = self.source.table, self._images(context)
        if context.split != "test":
            image = int(order[context.index])
            return context.index, image, table.main_class(image)
        ends = self._ends(context, order)
        place = int(np.searchsorted(ends, context.index, side="right"))
        image = int(order[place])
        scored = self.source.scored[image]
        return place, image, scored[context.index - int(ends[place])]

    def _images(self, context: Context) -> NDArray[np.int64]:
        """The numbers of a split's images in the order that the seed decides."""
        key = context.seed, context.split
        if key not in self._orders:
            images = self.source.table.images(context.split)
            self._orders[key] = images[context.stream("order", key=0).permutation(len(images))]
        return self._orders[key]

    def _ends(self, context: Context, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The index after each test image's last sample."""
        key = context.seed, "ends"
        if key not in self._orders:
            self._orders[key] = np.cumsum([len(self.source.scored[image]) for image in order.tolist()])
        return self._orders[key]


@dataclass(frozen=True)
class AnnotatedImages(MaskLimits):
    """Base of importers of photographs that show several classes each.

    A subclass says what its `classes` are, and gives in `open_source` an
    :class:`~salgen.datasets.layouts.detection_datasets.annotated_copy.AnnotatedCopy`.
    """

    classes: ClassVar[tuple[str, ...]]
    stand_in: ClassVar[str] = "multi-objects"

    masks: str = param(BOXES, "what marks the objects of a class", choices=(BOXES, SEGMENTATION))

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The class of objects that a sample is about."""
        return {OBJECT: self.classes}

    def prepare(self, source: AnnotatedCopy) -> ClassPairs:
        """The samples of each split."""
        table = source.table
        splits = {split: [table.item(image) for image in table.images(split).tolist()] for split in ("train", "val")}
        tested = [table.item(image) for image, scored in source.scored.items() for _ in scored]
        return ClassPairs(source, {**splits, "test": tested})

    def draw(self, context: Context) -> dict[str, Any]:
        """The item, the class that the sample is about, and the numbers of objects in the image."""
        place, image, number = context.material.pair(context)
        table = context.material.source.table
        classes = table.classes(image)
        own = int((classes == number).sum())
        counts = {"objects": own, "other_objects": len(classes) - own, "classes": len(table.present(image))}
        return {"item": table.item(image), OBJECT: number, "image": place, **counts}

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """The image as a whole, resized, with the mask of the class."""
        refuse_edit(edit)
        source, number = material.source, parameters[OBJECT]
        file, image = source.path_of(parameters["item"]), source.table.numbers[parameters["item"]]
        pixels = read_rgb(file)
        if pixels.shape[:2] != source.table.size(image):
            raise SalgenError(f"{file}: its size has changed since its annotations were read: restore the file")
        regions = {BOXES: source.box_mask(image, number)}
        if self.masks == SEGMENTATION:
            regions[OBJECT] = source.class_mask(image, number)
        annotated = source.annotated_mask(image)
        regions[self.target(OBJECT)] = self.ground_truth(regions[self.target(OBJECT)], annotated)
        if self.valid_region:
            regions[self.valid_region] = annotated
        present = {OBJECT: source.table.present(image)}
        return Rendered(resize_rgb(pixels, self.image_size), {OBJECT: number}, regions, present=present)

    def target(self, task: str) -> str:
        """The boxes of the class's objects, or their outlines."""
        return OBJECT if self.masks == SEGMENTATION else BOXES

    def region_names(self) -> list[str]:
        """The boxes of the class's objects, and where outlines are asked for these and what is annotated."""
        outlines = [OBJECT] if self.masks == SEGMENTATION else []
        return [BOXES, *outlines, *([self.valid_region] if self.valid_region else [])]

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """The image's place, how many objects of the class and of others it shows, and how many classes."""
        return {name: parameters[name] for name in ("image", "objects", "other_objects", "classes")}
