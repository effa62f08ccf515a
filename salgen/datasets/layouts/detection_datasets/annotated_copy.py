"""A user's copy of annotated photographs as a source, and the base of its importers.

A sample is a pair of an image and a class that it shows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from salgen.cache import cached_json
from salgen.datasets.layouts.broken import broken_items
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size, area, box_mask
from salgen.datasets.layouts.imported import SPLITS, Items, MaskLimits, in_words, mask_fault, mask_faults, refuse_edit
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import read_rgb, resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered
from salgen.parameters import param
from salgen.sources import OWN_COPY
from salgen.types import Mask

VERSION = "3"  # changes whenever the same files give other annotations
BOXES, SEGMENTATION = "boxes", "segmentation"


@dataclass(frozen=True)
class Annotated:
    """An image with its objects."""

    item: str  # its name in the copy
    split: str
    size: Size  # (H, W)
    objects: Sequence[tuple[int, Box]]  # class number and box of each
    runs: Mapping[str, str] = field(default_factory=dict)  # class number to its mask's run lengths, if there are such

    @property
    def present(self) -> tuple[int, ...]:
        """The classes that the image shows, rising."""
        return tuple(sorted({number for number, _ in self.objects}))

    @property
    def main_class(self) -> int:
        """The class of the object with the largest box; of equal ones the first that is annotated."""
        return max(self.objects, key=lambda each: area(each[1], self.size))[0]


@dataclass(frozen=True, eq=False)
class AnnotatedCopy:
    """A copy of annotated photographs as a source, of which an image may show several classes.

    Files and annotations are read when they are asked for. `kind` begins the names of its files in the cache.
    """

    name: ClassVar[str] = OWN_COPY
    redistributable: ClassVar[bool] = False
    license: ClassVar[str]
    kind: ClassVar[str]

    root: Path  # the folder that holds it
    masks: str  # "boxes" or "segmentation"
    image_size: Size
    min_mask: int

    def __getstate__(self) -> dict[str, Any]:
        """State without cached values, which can be large: each process reads them itself."""
        given = {"digest", *(each.name for each in fields(self))}
        return {name: value for name, value in vars(self).items() if name in given}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the files that determine the images and annotations."""
        raise NotImplementedError

    @property
    def about(self) -> str:
        """Sentences on the copy and its splits, for the data set's card."""
        raise NotImplementedError

    @property
    def choices(self) -> list[Any]:
        """Everything besides the files that determines the table, as JSON values."""
        return [self.masks]

    def read(self, skipped: Counter[str]) -> Iterable[Annotated]:
        """The usable images by their annotations; unusable ones are counted by reason in `skipped`."""
        raise NotImplementedError

    def path_of(self, item: str) -> Path:
        """The file of an image."""
        return self.root / item

    def class_mask(self, image: Annotated, number: int) -> Mask:
        """The mask of a class in the resized image, bool (H, W): its boxes, or its outlines."""
        return self.box_mask(image, number) if self.masks == BOXES else self.outlines(image, number)

    def outlines(self, image: Annotated, number: int) -> Mask:
        """The union of the outlines of a class's objects in the resized image, bool (H, W)."""
        raise NotImplementedError

    def annotated_mask(self, image: Annotated) -> Mask:
        """The annotated part of the resized image, bool (H, W)."""
        return np.ones(self.image_size, dtype=bool)

    def box_mask(self, image: Annotated, number: int) -> Mask:
        """The union of the boxes of a class's objects in the resized image."""
        return box_mask((box for kind, box in image.objects if kind == number), image.size, self.image_size)

    @property
    def images(self) -> Mapping[str, Annotated]:
        """Item to each image that shows an object and can be decoded."""
        return self._read[0]

    @property
    def skipped(self) -> Mapping[str, int]:
        """Number of images and annotations passed over, by reason."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[Mapping[str, Annotated], Mapping[str, int]]:
        kept = cached_json(self.kind, [VERSION, self.digest, *self.choices], self._looked_at)
        images = {each["item"]: Annotated(**{**each, "size": tuple(each["size"])}) for each in kept["images"]}
        if not images:
            raise SalgenError(f"no image of the copy can be used. {listed(kept['skipped'])}".strip())
        return images, kept["skipped"]

    def _looked_at(self) -> dict[str, Any]:
        skipped: Counter[str] = Counter()
        images = list(self.read(skipped))
        broken = broken_items({image.item: [self.path_of(image.item)] for image in images})
        sound = [image for image in images if image.item not in broken]
        skipped += Counter([*broken.values(), *("image without an object" for image in sound if not image.objects)])
        return {"images": [asdict(image) for image in sound if image.objects], "skipped": skipped}

    def classes_of(self, image: Annotated) -> tuple[int, ...]:
        """The classes of an image's samples: in test those whose mask is ground truth, else the main one."""
        if image.split != "test":
            return (image.main_class,)
        return tuple(number for number in image.present if not self._faults[image.item, number])

    @cached_property
    def _faults(self) -> Mapping[tuple[str, int], int]:
        """The fault of each test image's mask of each class that it shows, or 0."""
        tested = [(item, image) for item, image in self.images.items() if image.split == "test"]
        pairs = [(item, number) for item, image in tested for number in image.present]

        def fault(pair: tuple[str, int]) -> int:
            image = self.images[pair[0]]
            return mask_fault(self.class_mask(image, pair[1]), self.min_mask, self.annotated_mask(image))

        depends_on = [VERSION, self.digest, *self.choices, list(self.image_size), self.min_mask]
        return dict(zip(pairs, mask_faults(f"{self.kind}-scored", depends_on, pairs, fault), strict=True))

    @cached_property
    def notes(self) -> str:
        """Numbers of images, and of those passed over by reason, for the data set's card."""
        counts = Counter(image.split for image in self.images.values())
        usable = ", ".join(f"{counts[split]:,} for {split}" for split in SPLITS if counts[split])
        pairs = list(self._faults.values()).count(0)
        refused = in_words(self._faults.values(), ",")
        lost = f" Masks that are no ground truth at this size are left out: {refused}." if refused else ""
        return (
            f"{self.about} Images that can be used: {usable}. In test there are {pairs:,} pairs of an image and a "
            f"class that it shows, and each is a sample.{lost} {listed(self.skipped)}"
        ).strip()


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
    :class:`AnnotatedCopy`.
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
