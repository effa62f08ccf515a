"""A copy of marked images as a source: those that can be used, their splits, and notes on them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from os.path import relpath
from pathlib import Path
from typing import Any

from salgen.datasets.layouts.broken import sound_items
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.mask_limits import count_faults, mask_fault
from salgen.datasets.layouts.own_images.own_images import SPLITS
from salgen.datasets.layouts.own_images.own_split import Shares, assign_splits
from salgen.datasets.layouts.saliency_bench.marked_images import Found, MarkedImage
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.errors import SalgenError, unknown_name
from salgen.sources import OWN_COPY, Files


class MarkedCopy(Files):
    """Images with a class, of which some are marked.

    Parameters
    ----------
    found
        What a reader found.
    classes
        The names that are wanted, in the order of the labels; all that an image has if empty.
    image_size, min_mask
        (H, W), and the fewest pixels of a mask.
    shares, seed
        Parts of each class for each split, and the seed of the order by which they are taken.
    """

    images: Mapping[str, MarkedImage]  # item to image
    classes: tuple[str, ...]  # their names, in the order of the labels

    def __init__(
        self, found: Found, classes: Sequence[str], image_size: Size, min_mask: int, shares: Shares, seed: int
    ) -> None:
        for name in classes:
            if name not in found.classes:
                raise unknown_name("class", name, found.classes)
        wanted = {item: image for item, image in found.images.items() if image.label in (classes or found.classes)}
        images, broken = sound_items(wanted, {item: image.pictures for item, image in wanted.items()})
        skipped = found.skipped + broken
        if not images:
            raise SalgenError(f"no image of the copy can be used. {listed(skipped)}".strip())
        there = {image.label for image in images.values()}
        chosen = tuple(classes) or tuple(name for name in found.classes if name in there)
        numbers = {item: chosen.index(image.label) for item, image in images.items()}
        clusters = {item: image.cluster or item for item, image in images.items()}
        splits = assign_splits(dict.fromkeys(images), numbers, clusters, shares, seed)
        files = [*found.annotations, *(file for image in images.values() for file in image.files)]
        # Files stores its notes; here they are computed after every mask is read.
        vars(self).update(
            name=OWN_COPY,
            licence=found.licence,
            files={Path(relpath(file, found.root)).as_posix(): file for file in files},
            splits=splits,
            images=images,
            classes=chosen,
            found=found.about,
            skipped=skipped,
            limits=(image_size, min_mask),
            shares=shares,
        )

    found: str
    skipped: Counter[str]
    limits: tuple[Size, int]
    shares: Shares

    def number(self, item: str) -> int:
        """The number of an image's class."""
        return self.classes.index(self.images[item].label)

    @cached_property
    def notes(self) -> str:
        """Numbers of images by split, what has no mask, and what was skipped, for the data set's card."""
        marked = [item for item, image in self.images.items() if image.outlines]
        without = f"{len(self.images) - len(marked):,} of them have no mask: they are trained on, and not scored."
        texts = [self.found, self._splits, without if len(marked) < len(self.images) else "", self._refused(marked)]
        return " ".join(filter(None, [*texts, listed(self.skipped)]))

    @property
    def _splits(self) -> str:
        counts = Counter(self.splits.values())
        numbers = ", ".join(f"{counts[split]:,} {split}" for split in SPLITS if counts[split])
        parts = (
            f"{100 * share / sum(self.shares):.3g} % {split}" for share, split in zip(self.shares, SPLITS, strict=True)
        )
        together = " Images of a patient stay together." if any(one.cluster for one in self.images.values()) else ""
        return f"Images: {numbers}; of each class {', '.join(parts)}, in an order fixed by the names.{together}"

    def _refused(self, marked: Sequence[str]) -> str:
        image_size, min_mask = self.limits

        def fault(item: str) -> int:
            image = self.images[item]
            return mask_fault(image.mask(image_size), min_mask, image.annotated(image_size) if image.void else None)

        # Which masks there are depends on parameters too, which no file tells.
        marks: list[Any] = [(item, len(self.images[item].outlines), bool(self.images[item].void)) for item in marked]
        return count_faults(["saliency bench", self.digest, list(image_size), min_mask, marks], marked, fault)
