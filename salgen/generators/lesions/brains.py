"""The bank of brain slices: cut once per source and image size, then shared by every lesion generator.

The bank does not depend on a data set's seed, so all backgrounds draw the same masks and slices from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.cache import cached
from salgen.errors import SalgenError
from salgen.generators.lesions.brain_files import subject_of
from salgen.generators.lesions.slicing import Levels, cut_slice, prepare_volume
from salgen.generators.lesions.volumes import spread_splits
from salgen.progress import tracked
from salgen.seeding import Stream
from salgen.sources import Files
from salgen.types import Mask

BANK_VERSION = "1"  # changes whenever a slice does
CHECKS_VERSION = "2"  # changes whenever another volume is refused
SMALLEST_BRAIN = 0.01  # least share of the image; empty slices, as in the paper's data, are useless

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BrainBank:
    """Slices of brains with their masks."""

    masks: Mask  # (K, H, W)
    slices: Levels  # uint16 (K, H, W): T1 intensity, 65535 at each volume's robust maximum, 0 outside the mask
    subjects: Indices  # (K,): the number of the subject whose brain each slice was cut from
    parts: Mapping[str, Indices]  # split name to the numbers of its slices
    fallback: str | None  # the part for a split of another name; None if that is an error, as slices belong to subjects

    def indices(self, split: str) -> Indices:
        """The numbers of the slices that belong to a split."""
        part = split if split in self.parts else self.fallback
        if part is None:
            raise SalgenError(f"split {split!r}: no brain volume belongs to it, only to {', '.join(self.parts)}")
        return self.parts[part]


def brain_bank(
    source: Files, image_size: tuple[int, int], field_of_view: tuple[float, float], slices: int
) -> BrainBank:
    """The bank of slices (H, W) of a source of volumes, from the cache where it is there.

    The image holds `field_of_view`, millimetres along rows and columns. Each volume gives one slice at least.
    """
    names = source.names()
    base, extra = divmod(max(slices, len(names)), len(names))
    volumes = [name for place, name in enumerate(names) for _ in range(base + (place < extra))]  # one a slice
    pixel_mm = max(view / extent for view, extent in zip(field_of_view, image_size, strict=True))
    depends_on = [BANK_VERSION, CHECKS_VERSION, source.digest, image_size, field_of_view, slices]
    kept = cached("brains", depends_on, ("masks", "slices"), lambda: _cut(source, volumes, image_size, pixel_mm))
    shape = (len(volumes), *image_size)
    masks = np.unpackbits(kept["masks"], count=int(np.prod(shape))).astype(bool).reshape(shape)
    numbers = {subject: number for number, subject in enumerate(dict.fromkeys(map(subject_of, volumes)))}
    subjects = np.array([numbers[subject_of(name)] for name in volumes])
    return BrainBank(masks, kept["slices"].reshape(shape), subjects, *_parts([source.split_of(v) for v in volumes]))


def _cut(source: Files, volumes: list[str], image_size: tuple[int, int], pixel_mm: float) -> dict[str, NDArray[Any]]:
    """Every slice of every volume, eight mask pixels in a byte; one volume is in memory at a time."""
    masks = np.empty((len(volumes), *image_size), dtype=bool)
    slices = np.empty((len(volumes), *image_size), dtype=np.uint16)
    for place, name in enumerate(tracked("cutting brain slices", volumes, "slices")):
        number = place - volumes.index(name)
        if number == 0:
            slab = prepare_volume(source.load(name), pixel_mm)
        stream = Stream("brain-bank", BANK_VERSION, name, index=number)
        masks[place], slices[place] = cut_slice(slab, stream, image_size, pixel_mm)
        if masks[place].mean() < SMALLEST_BRAIN:
            raise SalgenError(
                f"{name}: the brain covers {masks[place].mean():.1%} of a slice, must be {SMALLEST_BRAIN:.0%} or more: "
                "make field_of_view smaller, or check the volume"
            )
    return {"masks": np.packbits(masks), "slices": slices}


def _parts(owners: list[str | None]) -> tuple[dict[str, Indices], str | None]:
    """Split name to slice numbers, and the part for splits of other names, from the split of each slice's volume."""
    by_subject = sorted({split for split in owners if split is not None})
    if by_subject:
        return {split: np.flatnonzero([owner == split for owner in owners]) for split in by_subject}, None
    total = len(owners)
    if total < 3:
        return {"test": np.arange(total)}, "test"
    shuffled = Stream("brain-bank", "splits").permutation(total)
    splits = np.array(spread_splits(total))
    return {split: np.sort(shuffled[splits == split]) for split in ("train", "val", "test")}, "test"
