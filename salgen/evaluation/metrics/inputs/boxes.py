"""The pixels that a map marks: the largest component of those at or above its mean, and the box around it."""

from __future__ import annotations

from typing import NamedTuple
import numpy as np
from scipy import ndimage
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.types import Mask

EIGHT_NEIGHBOURS = np.ones((3, 3), dtype=bool)
SUMMABLE = 2.0**900  # float64 values up to here can be summed by the billion


class Box(NamedTuple):
    """The pixels of rows ``range(top, bottom)`` and columns ``range(left, right)``."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def area(self) -> int:
        """The number of pixels."""
        return (self.bottom - self.top) * (self.right - self.left)

    @property
    def pixels(self) -> tuple[slice, slice]:
        """The box as an index into an image (H, W)."""
        return slice(self.top, self.bottom), slice(self.left, self.right)

    def within(self, outer: Box) -> Box:
        """The box, given in coordinates of `outer`, in coordinates of the image around `outer`."""
        return Box(outer.top + self.top, outer.top + self.bottom, outer.left + self.left, outer.left + self.right)


NOTHING = Box(0, 0, 0, 0)


class Overlap(NamedTuple):
    """Numbers of pixels in both of a prediction and a reference, in the prediction, and in the reference."""

    both: int
    predicted: int
    reference: int

    @property
    def union(self) -> int:
        """Number of pixels in either, TP + FP + FN."""
        return self.predicted + self.reference - self.both

    @property
    def iou(self) -> float:
        """TP / (TP + FP + FN)."""
        return self.both / self.union

    @property
    def dice(self) -> float:
        """2 TP / (2 TP + FP + FN)."""
        return 2 * self.both / (self.predicted + self.reference)


def above_mean(saliency: Values, region: Mask) -> Mask:
    """The pixels of a region whose value is at least its mean, bool (H, W); the map is finite there.

    All of the region for a constant map, told by its extremes. Of any other map the smallest value is out and the
    largest in. So it is for the exact mean, which a sum may miss by its rounding.
    """
    values = saliency[region].astype(np.float64)
    if np.abs(values).max() > SUMMABLE:
        values *= 1.0 / SUMMABLE
    low, high = values.min(), values.max()
    selected = region.copy()
    if low < high:
        selected[region] = values >= min(max(values.mean(), np.nextafter(low, high)), high)
    return selected


def largest_component(selected: Mask) -> Mask:
    """The largest set of 8-connected pixels, bool (H, W); of equal ones the first in raster order.

    Examples
    --------
    >>> largest_component(np.array([[True, False, False], [False, True, False], [False, False, False]])).sum()
    np.int64(2)
    """
    labels, count = ndimage.label(selected, EIGHT_NEIGHBOURS)
    if count < 2:
        return selected
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    number = int(sizes.argmax())
    if np.count_nonzero(sizes == sizes[number]) > 1:
        number = labels.flat[int(sizes[labels].argmax())]
    return np.asarray(labels == number)


def tight_box(selected: Mask) -> Box:
    """The smallest box around the pixels of a bool (H, W); `NOTHING` if there is none.

    Examples
    --------
    >>> tight_box(np.array([[False, False, False], [False, True, True]]))
    Box(top=1, bottom=2, left=1, right=3)
    """
    rows, columns = np.flatnonzero(selected.any(axis=1)), np.flatnonzero(selected.any(axis=0))
    if not len(rows):
        return NOTHING
    return Box(int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1)


def mask_overlap(predicted: Mask, reference: Mask) -> Overlap:
    """The overlap of two masks, bool (H, W)."""
    return Overlap(*(int(np.count_nonzero(pixels)) for pixels in (predicted & reference, predicted, reference)))


def box_overlap(predicted: Box, reference: Box) -> Overlap:
    """The overlap of two boxes."""
    height = min(predicted.bottom, reference.bottom) - max(predicted.top, reference.top)
    width = min(predicted.right, reference.right) - max(predicted.left, reference.left)
    return Overlap(max(height, 0) * max(width, 0), predicted.area, reference.area)
