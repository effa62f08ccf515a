"""One map ranked against one mask, each side sorted once for all ranking metrics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
import numpy as np
from numpy.typing import NDArray
from salgen.types import Float64, Mask

Values = NDArray[np.floating[Any]]
Counts = NDArray[np.int64]


class Levels(NamedTuple):
    """Counts of pixels at the values of the mask pixels, an entry for each distinct value, or for each pixel."""

    positives: Any  # mask pixels that the entry stands for
    # negatives_below, negatives_tied: pixels outside the mask with a smaller value, and with this value
    negatives_below: Any
    negatives_tied: Any
    # positives_from, negatives_from: pixels with this value or a larger one, in the mask and outside it
    positives_from: Any
    negatives_from: Any


class Cut(NamedTuple):
    """Numbers of pixels above a value and exactly at it, in the mask and outside it."""

    positives_above: int
    positives_tied: int
    negatives_above: int
    negatives_tied: int


def hits_of_the_largest(ranking: Ranking) -> tuple[int, int]:
    """Number of the p largest pixels that lie in the mask, in parts of a pixel, and the number of parts in a pixel.

    Pixels tied at the last place enter in proportion, so the parts are as many as these.
    """
    cut = ranking.cut_at_pth_largest
    tied = cut.positives_tied + cut.negatives_tied
    left = ranking.p - cut.positives_above - cut.negatives_above
    return cut.positives_above * tied + left * cut.positives_tied, tied


@dataclass(frozen=True, eq=False)
class Ranking:
    """The pixels of one map within the scored region, ranked against one mask.

    Values alone are sorted, never indices: a value sort is vectorised, and no result can depend on
    the order of pixels. Each side is sorted on first use, and all metrics share it. Values are
    compared in the map's own type, so -0.0 equals 0.0 and two pixels are tied when they are equal.

    Examples
    --------
    >>> ranking = Ranking(np.array([[0.9, 0.1], [0.1, 0.0]]), np.array([[True, True], [False, False]]))
    >>> ranking.levels.negatives_below.tolist(), ranking.levels.negatives_tied.tolist()
    ([1, 2], [1, 0])
    """

    saliency: Values  # float32 or float64 (H, W)
    mask: Mask  # bool (H, W): the ground truth; its pixels outside `valid` do not count
    valid: Mask | None = None  # bool (H, W): the scored region, or None for the whole image

    @cached_property
    def positives(self) -> Values:
        """The values in the mask, ascending."""
        return self._sorted(self.mask if self.valid is None else self.mask & self.valid)

    @cached_property
    def negatives(self) -> Values:
        """The values outside the mask, ascending."""
        return self._sorted(~self.mask if self.valid is None else self.valid & ~self.mask)

    @cached_property
    def p(self) -> int:
        """The number of mask pixels."""
        return len(self.positives)

    @cached_property
    def n(self) -> int:
        """The number of pixels outside the mask."""
        return len(self.negatives)

    @cached_property
    def finite(self) -> bool:
        """True if every value in the scored region is finite; sorting puts the others at the ends."""
        ends = [side[end] for side in (self.positives, self.negatives) if len(side) for end in (0, -1)]
        return all(math.isfinite(value) for value in ends)

    @cached_property
    def region(self) -> Mask:
        """The scored region, bool (H, W)."""
        return np.ones(self.saliency.shape, dtype=bool) if self.valid is None else self.valid

    @cached_property
    def truth(self) -> Mask:
        """The mask within the scored region, bool (H, W)."""
        return self.mask if self.valid is None else self.mask & self.valid

    @cached_property
    def scaled(self) -> Float64:
        """(S - min S) / (max S - min S) over the scored region, float64 (H, W) in [0, 1]; 0 outside it.

        Zeros for a constant map.
        """
        values = np.where(self.region, self.saliency, self.top).astype(np.float64)
        low, high = float(values.min()), float(values.max())
        if math.isinf(high - low):  # finite ends whose distance is not
            values, low, high = values / 2.0, low / 2.0, high / 2.0
        if high == low:
            return np.zeros_like(values)
        return np.where(self.region, (values - low) / (high - low), 0.0)

    @cached_property
    def levels(self) -> Levels:
        """Counts at each distinct value of the positives, ascending, int64."""
        new = np.ones(self.p, dtype=bool)
        new[1:] = self.positives[1:] != self.positives[:-1]
        starts = np.flatnonzero(new)
        values = self.positives[starts]
        below = self.negatives.searchsorted(values, "left")
        at = np.diff(np.append(starts, self.p))
        return Levels(at, below, self._tied(values, below), self.p - starts, self.n - below)

    @cached_property
    def top(self) -> np.floating[Any]:
        """The largest value."""
        return max(side[-1] for side in (self.positives, self.negatives) if len(side))

    def over_positives(self, term: Callable[[Levels], Any]) -> float:
        """The sum over the mask pixels of a term of the counts at their values."""
        return float((self.levels.positives * term(self.levels)).sum())

    def cut(self, value: Any) -> Cut:
        """Counts above and at `value`, which is converted to the map's own type."""
        value = self.saliency.dtype.type(value)
        return Cut(*_above_and_at(self.positives, value), *_above_and_at(self.negatives, value))

    @property
    def cut_at_pth_largest(self) -> Cut:
        """Counts above and at the p-th largest value of all."""
        return self.cut(_pth_largest(self))

    def above_scaled(self, threshold: float) -> tuple[int, int]:
        """Numbers of pixels in the mask and outside it whose scaled value is above a threshold."""
        above = self.scaled > threshold
        inside = int(np.count_nonzero(above & self.truth))
        return inside, int(np.count_nonzero(above)) - inside

    def above_share_of_top(self, threshold: float) -> tuple[int, int]:
        """Numbers of pixels in the mask and outside it above a share of the largest value; 0 if none is positive."""
        # compared in units of the largest, since the share of it may be too small a number
        inside, outside = (int(np.count_nonzero(side > threshold)) for side in self._in_units_of_the_top)
        return inside, outside

    @property
    def masses(self) -> tuple[float, float]:
        """Float64 sums of the positive values in the mask and outside it in units of the largest, or 0."""
        inside, outside = (float(side.sum()) for side in self._in_units_of_the_top)
        return inside, outside

    @property
    def scaled_sums(self) -> tuple[float, float]:
        """Sums of the scaled values in the mask and outside it."""
        return float(self.scaled[self.truth].sum()), float(self.scaled[self.region & ~self.truth].sum())

    @property
    def boxed(self) -> Ranking:
        """The same map against the bounding box of the mask, its edges included."""
        rows, columns = (_filled(np.asarray(self.truth.any(axis=axis))) for axis in (1, 0))
        return Ranking(self.saliency, np.logical_and.outer(rows, columns), self.valid)

    @cached_property
    def _in_units_of_the_top(self) -> list[Float64]:
        """The positive values of each side over the largest of all, ascending; none if no value is positive."""
        top, zero = self.top, self.saliency.dtype.type(0)
        if top <= 0:
            return [np.zeros(0), np.zeros(0)]
        sides = [side[side.searchsorted(zero, "right") :] for side in (self.positives, self.negatives)]
        return [np.divide(side, top, dtype=np.float64) for side in sides]

    def _tied(self, values: Values, below: Counts) -> Counts:
        """Number of negatives equal to each value; most values have none, so few are searched for."""
        tied = np.zeros_like(below)
        if self.n:
            met = np.flatnonzero(self.negatives.take(below, mode="clip") == values)
            tied[met] = self.negatives.searchsorted(values[met], "right") - below[met]
        return tied

    def _sorted(self, where: Mask) -> Values:
        values = self.saliency[where]
        values.sort()
        return values


def _above_and_at(ascending: Values, value: np.floating[Any]) -> tuple[int, int]:
    below, up_to = int(ascending.searchsorted(value, "left")), int(ascending.searchsorted(value, "right"))
    return len(ascending) - up_to, up_to - below


def _pth_largest(ranking: Ranking) -> np.floating[Any]:
    """The p-th largest value of all, from the two sorted sides.

    The p largest are the j largest positives and the p - j largest negatives. The positive of rank j is among them when
    it beats the negative of rank p - j. That holds up to some j and not beyond.
    """
    positives, negatives, p = ranking.positives, ranking.negatives, ranking.p
    faced = min(p, ranking.n)  # the p - n largest positives face no negative at all
    beaten = np.count_nonzero(positives[:faced][::-1] > negatives[ranking.n - faced :])
    taken = p - faced + int(beaten)
    last = ([positives[p - taken]] if taken else []) + ([negatives[ranking.n - p + taken]] if taken < p else [])
    return min(last)


def _filled(flags: Mask) -> Mask:
    """All places from the first True to the last, bool (n,)."""
    filled: Mask = np.logical_or.accumulate(flags) & np.logical_or.accumulate(flags[::-1])[::-1]
    return filled
