"""A user's copy of annotated photographs as a source: its images and their annotations."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from salgen.datasets.layouts.broken import MANY, faults_of
from salgen.datasets.layouts.detection_datasets.object_boxes import Size, box_mask
from salgen.datasets.layouts.detection_datasets.object_table import VERSION, Annotated, ObjectTable, table_of
from salgen.datasets.layouts.imported import SPLITS
from salgen.datasets.layouts.mask_limits import in_words, mask_fault, mask_faults
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.sources import OWN_COPY
from salgen.types import Mask

BOXES, SEGMENTATION = "boxes", "segmentation"


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

    def readable(self, skipped: Counter[str]) -> Iterator[Annotated]:
        """Those of them that can be decoded; the others are counted too."""
        images = iter(self.read(skipped))
        while part := list(islice(images, MANY)):
            for image, fault in zip(part, faults_of([self.path_of(image.item)] for image in part), strict=True):
                if fault:
                    skipped[fault] += 1
                else:
                    yield image

    def path_of(self, item: str) -> Path:
        """The file of an image."""
        return self.root / item

    def class_mask(self, image: int, number: int) -> Mask:
        """The mask of a class in the resized image, bool (H, W): its boxes, or its outlines."""
        return self.box_mask(image, number) if self.masks == BOXES else self.outlines(image, number)

    def outlines(self, image: int, number: int) -> Mask:
        """The union of the outlines of a class's objects in the resized image, bool (H, W)."""
        raise NotImplementedError

    def annotated_mask(self, image: int) -> Mask:
        """The annotated part of the resized image, bool (H, W)."""
        return np.ones(self.image_size, dtype=bool)

    def box_mask(self, image: int, number: int) -> Mask:
        """The union of the boxes of a class's objects in the resized image."""
        return box_mask(self.table.boxes(image, number), self.table.size(image), self.image_size)

    @cached_property
    def table(self) -> ObjectTable:
        """The annotations as arrays, read from the cache if they are in it."""
        return table_of(self.kind, [self.digest, *self.choices], self.readable)

    @cached_property
    def scored(self) -> Mapping[int, tuple[int, ...]]:
        """Number of each test image to those of its classes whose mask is ground truth in the resized image."""
        scored: dict[int, list[int]] = {image: [] for image in self.table.images("test").tolist()}
        for (image, number), fault in self._faults.items():
            scored[image] += [number] * (not fault)
        return {image: tuple(numbers) for image, numbers in scored.items()}

    @cached_property
    def _faults(self) -> Mapping[tuple[int, int], int]:
        """The fault of each test image's mask of each class that it shows, or 0."""
        test = self.table.images("test").tolist()
        pairs = [(image, number) for image in test for number in self.table.present(image)]

        def fault(pair: tuple[int, int]) -> int:
            return mask_fault(self.class_mask(*pair), self.min_mask, self.annotated_mask(pair[0]))

        depends_on = [VERSION, self.digest, *self.choices, list(self.image_size), self.min_mask]
        return dict(zip(pairs, mask_faults(f"{self.kind}-scored", depends_on, pairs, fault), strict=True))

    @cached_property
    def notes(self) -> str:
        """Numbers of images, and of those passed over by reason, for the data set's card."""
        images = {split: len(self.table.images(split)) for split in SPLITS}
        usable = ", ".join(f"{count:,} for {split}" for split, count in images.items() if count)
        pairs = sum(map(len, self.scored.values()))
        refused = in_words(self._faults.values(), ",")
        lost = f" Masks that are no ground truth at this size are left out: {refused}." if refused else ""
        return (
            f"{self.about} Images that can be used: {usable}. In test there are {pairs:,} pairs of an image and a "
            f"class that it shows, and each is a sample.{lost} {listed(self.table.skipped)}"
        ).strip()
