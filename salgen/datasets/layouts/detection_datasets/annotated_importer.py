"""Base of importers of annotated photographs: a sample is a pair of an image and a class that it shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.datasets.layouts.detection_datasets.annotated_copy import BOXES, SEGMENTATION, Annotated, AnnotatedCopy
from salgen.datasets.layouts.imported import SPLITS, Items, refuse_edit
from salgen.datasets.layouts.mask_limits import MaskLimits
from salgen.generators.drawing.pictures import read_rgb, resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered
from salgen.parameters import param

OBJECT = "object"


@dataclass(frozen=True, eq=False)
class ClassPairs(Items):
    """The samples of a copy: of test images one for each class, of all others one. `splits` has their items."""

    def pair(self, context: Context) -> tuple[int, Annotated, int]:
        """The image's place in the order that the seed decides, the image, and the class."""
        key = context.seed, context.split
        if key not in self._orders:
            images = [image for image in self.source.images.values() if image.split == context.split]
            order = context.stream("order", key=0).permutation(len(images)).tolist()
            ordered = enumerate(images[number] for number in order)
            self._orders[key] = [(k, image, kind) for k, image in ordered for kind in self.source.classes_of(image)]
        pair: tuple[int, Annotated, int] = self._orders[key][context.index]
        return pair


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
        splits: dict[str, list[str]] = {split: [] for split in SPLITS}
        for item, image in source.images.items():
            splits[image.split] += [item] * len(source.classes_of(image))
        return ClassPairs(source, splits)

    def draw(self, context: Context) -> dict[str, Any]:
        """The item, the class that the sample is about, and the numbers of objects in the image."""
        place, image, number = context.material.pair(context)
        own = [kind for kind, _ in image.objects].count(number)
        counts = {"objects": own, "other_objects": len(image.objects) - own, "classes": len(image.present)}
        return {"item": image.item, OBJECT: number, "image": place, **counts}

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """The image as a whole, resized, with the mask of the class."""
        refuse_edit(edit)
        source, number = material.source, parameters[OBJECT]
        image = source.images[parameters["item"]]
        pixels = read_rgb(source.path_of(image.item))
        regions = {BOXES: source.box_mask(image, number)}
        if self.masks == SEGMENTATION:
            regions[OBJECT] = source.class_mask(image, number)
        annotated = source.annotated_mask(image)
        regions[self.target(OBJECT)] = self.ground_truth(regions[self.target(OBJECT)], annotated)
        if self.valid_region:
            regions[self.valid_region] = annotated
        present = {OBJECT: image.present}
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
