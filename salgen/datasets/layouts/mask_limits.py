"""Masks that are no ground truth: empty ones, full ones and tiny ones, refused alike by all importers.

Of an empty mask nothing can be found, of one that covers all that is scored nothing can be missed (every map gets 1),
and the score of a handful of pixels is that of the resizing.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
import numpy as np
from salgen.cache import cached_json
from salgen.datasets.layouts.imported import Imported
from salgen.parameters import param
from salgen.progress import tracked
from salgen.types import Mask

EMPTY, FULL, TINY = 1, 2, 3
FAULTS = {EMPTY: "empty", FULL: "full, as they cover all that is scored", TINY: "of fewer than min_mask pixels"}
SMALLEST = 6  # pixels
VERSION = "2"  # changes whenever another mask is refused


@dataclass(frozen=True)
class MaskLimits(Imported):
    """Base of importers that say which masks are no ground truth."""

    min_mask: int = param(SMALLEST, "a mask of fewer pixels at the image's size is no ground truth", low=1)

    def mask_fault(self, mask: Mask, scored: Mask | None = None) -> int:
        """The key in :data:`FAULTS` of a mask that is no ground truth, else 0."""
        return mask_fault(mask, self.min_mask, scored)

    def ground_truth(self, mask: Mask, scored: Mask | None = None) -> Mask:
        """The mask, or an empty one if it is no ground truth."""
        return np.zeros_like(mask) if self.mask_fault(mask, scored) else mask


def mask_fault(mask: Mask, min_mask: int, scored: Mask | None = None) -> int:
    """The key in :data:`FAULTS` of a mask that is no ground truth where maps are scored (None: everywhere), else 0."""
    pixels = int(mask.sum())
    if pixels == 0:
        return EMPTY
    if (mask if scored is None else mask | ~scored).all():
        return FULL
    return TINY if pixels < min_mask else 0


def mask_faults(kind: str, depends_on: Any, items: Collection[Any], fault: Callable[[Any], int]) -> list[int]:
    """The fault of each item's mask, kept in the user's cache by what the masks depend on."""

    def look() -> list[int]:
        return list(map(fault, tracked("looking at masks", items, "masks")))

    faults: list[int] = cached_json(kind, [VERSION, depends_on], look)
    return faults


def in_words(faults: Iterable[int], form: str = "") -> str:
    """The numbers of masks with each fault in a format, or "" if there are none."""
    counts = Counter(faults)
    return ", ".join(f"{counts[fault]:{form}} {why}" for fault, why in FAULTS.items() if counts[fault])


def about_faults(faults: Sequence[int]) -> str:
    """A sentence on the masks that are no ground truth, or "" if there are none."""
    refused = in_words(faults)
    return refused and (
        f"Of {len(faults):,} masks these are no ground truth at this size: {refused}. Such samples are kept "
        "with an empty mask, and are not scored."
    )
