"""A user's copy of annotated photographs as a source: its images and their annotations."""

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
from salgen.datasets.layouts.imported import SPLITS
from salgen.datasets.layouts.mask_limits import in_words, mask_fault, mask_faults
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.errors import SalgenError
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
