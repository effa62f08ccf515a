"""Masks that are no ground truth: empty ones, full ones and tiny ones, refused alike by all importers.

Of an empty mask nothing can be found, of one that covers all that is scored nothing can be missed (every map gets 1),
and the score of a handful of pixels is that of the resizing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
import numpy as np
from salgen.cache import cached
from salgen.datasets.layouts.imported import Imported
from salgen.parameters import param
from salgen.progress import progress
from salgen.types import Mask

EMPTY, FULL, TINY = 1, 2, 3
FAULTS = {EMPTY: "empty", FULL: "full, as they cover all that is scored", TINY: "of fewer than min_mask pixels"}
SMALLEST = 6  # pixels
VERSION = "1"  # changes whenever another mask is refused


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


def mask_faults(depends_on: Any, items: Sequence[str], fault: Callable[[str], int]) -> dict[int, int]:
    """The number of masks with each fault; see :func:`count_faults`."""

    def count() -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
        found: Counter[int] = Counter()
        with progress("looking at masks", len(items), "masks") as advance:
            for item in items:
                found[fault(item)] += 1
                advance()
        return {"counts": np.array([found[number] for number in FAULTS], dtype=np.int64)}

    counts = cached("masks", [VERSION, depends_on], ("counts",), count)["counts"].tolist()
    return dict(zip(FAULTS, counts, strict=True))


def count_faults(depends_on: Any, items: Sequence[str], fault: Callable[[str], int]) -> str:
    """A sentence on the masks that are no ground truth; counts are kept in the cache by what the masks depend on."""
    counts = mask_faults(depends_on, items, fault)
    refused = [f"{number} {FAULTS[key]}" for key, number in counts.items() if number]
    if not refused:
        return ""
    return (
        f"Of {len(items):,} masks these are no ground truth at this size: {', '.join(refused)}. Such samples are kept "
        "with an empty mask, and are not scored."
    )
