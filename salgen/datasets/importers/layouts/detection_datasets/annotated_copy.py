"""A user's copy of annotated photographs as a source: its images and their annotations."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from salgen.cache import cached
from salgen.datasets.importers.layouts.detection_datasets.object_boxes import Size, box_mask
from salgen.datasets.importers.layouts.detection_datasets.table import SPLITS, VERSION, Annotated, Table, table_of
from salgen.datasets.libraries.picture_sampling import UnusableError, listed
from salgen.progress import progress
from salgen.sources import OWN_COPY, Files
from salgen.types import Mask

BOXES, SEGMENTATION = "boxes", "segmentation"


class AnnotatedCopy(Files):
    """A copy of annotated photographs, of which an image may show several classes.

    Parameters
    ----------
    root
        The folder that holds it.
    masks
        ``"boxes"`` or ``"segmentation"``.
    image_size
        (H, W) to which images are resized.

    Attributes
    ----------
    kind
        The beginning of the names of its files in the cache.
    about
        Sentences on the copy and its splits.
    """

    kind: ClassVar[str]

    root: Path
    masks: str
    image_size: Size
    given: tuple[str, ...]

    def __init__(self, root: Path, masks: str, image_size: Size, **more: Any) -> None:
        # Files stores values; here most are computed after the folders or all annotations are read.
        given = {"name": OWN_COPY, "root": root, "masks": masks, "image_size": image_size, **more}
        vars(self).update(given, given=(*given, "given", "digest"))

    def __getstate__(self) -> dict[str, Any]:
        """State without cached values, which can be large: each process reads them itself."""
        return {name: value for name, value in vars(self).items() if name in self.given}

    @property
    def about(self) -> str:
        """Sentences on the copy and its splits, for the data set's card."""
        raise NotImplementedError

    @property
    def choices(self) -> list[Any]:
        """Everything besides the files that determines the table, as JSON values."""
        return [self.masks]

    def read(self, skipped: Counter[str]) -> Iterable[Annotated]:
        """The usable images; unusable ones are counted by reason in `skipped`."""
        raise NotImplementedError

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
    def table(self) -> Table:
        """The annotations as arrays, read from the cache if they are in it."""
        return table_of(self.kind, [self.digest, *self.choices], self.read)

    @cached_property
    def scored(self) -> Mapping[int, tuple[int, ...]]:
        """Number of each test image to those of its classes whose mask is not empty in the resized image."""
        test = self.table.images("test").tolist()
        pairs = [(image, number) for image in test for number in self.table.present(image)]
        depends_on = [VERSION, self.digest, *self.choices, list(self.image_size)]
        kept = cached(f"{self.kind}-scored", depends_on, ("scored",), lambda: {"scored": self._have_pixels(pairs)})
        scored: dict[int, list[int]] = {image: [] for image in test}
        for (image, number), has_pixels in zip(pairs, kept["scored"].tolist(), strict=True):
            scored[image] += [number] * has_pixels
        return {image: tuple(numbers) for image, numbers in scored.items()}

    def _have_pixels(self, pairs: Sequence[tuple[int, int]]) -> Mask:
        """True for each pair of image and class whose mask is not empty, bool (pairs,)."""
        non_empty = np.zeros(len(pairs), dtype=bool)
        with progress("looking at masks", len(pairs), "masks") as advance:
            for place, (image, number) in enumerate(pairs):
                non_empty[place] = self.class_mask(image, number).any()
                advance()
        return non_empty

    @cached_property
    def notes(self) -> str:
        """Numbers of images, and of those passed over by reason, for the data set's card."""
        counts = {split: len(self.table.images(split)) for split in SPLITS}
        usable = ", ".join(f"{count:,} for {split}" for split, count in counts.items() if count)
        pairs = sum(map(len, self.scored.values()))
        empty = sum(len(self.table.present(image)) for image in self.scored) - pairs
        lost = f" {empty:,} more have a mask without pixels at this size and are left out." if empty else ""
        return (
            f"{self.about} Images that can be used: {usable}. In test there are {pairs:,} pairs of an image and a "
            f"class that it shows, and each is a sample.{lost} {listed(self.table.skipped)}"
        ).strip()


def check_size(path: Path, size: Size | None) -> Size:
    """The (H, W) of an image's file, whose pixels are not read for it.

    Raises
    ------
    UnusableError
        If the file is missing or no picture, or the size is not the one that is stated.
    """
    if not path.is_file():
        raise UnusableError("missing image")
    try:
        with Image.open(path) as picture:
            width, height = picture.size
    except (OSError, ValueError, SyntaxError, struct.error, Image.DecompressionBombError):
        raise UnusableError("unreadable image") from None
    if size not in (None, (height, width)):
        raise UnusableError("image of another size than stated")
    return height, width
