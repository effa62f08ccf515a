"""One map ranked against one mask, each side sorted once for all ranking metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from salgen.types import Float64, Mask

Values = NDArray[np.floating[Any]]
Counts = NDArray[np.int64]


class Levels(NamedTuple):
    """The distinct values of the positives in ascending order, as int64 counts of pixels at each.

    Attributes
    ----------
    positives
        Mask pixels with this value.
    negatives_below, negatives_tied
        Pixels outside the mask with a smaller value, and with this value.
    """

    positives: Counts
    negatives_below: Counts
    negatives_tied: Counts


class Cut(NamedTuple):
    """Numbers of pixels above a value and exactly at it, in the mask and outside it."""

    positives_above: int
    positives_tied: int
    negatives_above: int
    negatives_tied: int


@dataclass(frozen=True, eq=False)
class Ranking:
    """The pixels of one map within the scored region, ranked against one mask.

    Values alone are sorted, never indices: a value sort is vectorised, and no result can depend on
    the order of pixels. Each side is sorted on first use, and all metrics share it. Values are
    compared in the map's own type, so -0.0 equals 0.0 and two pixels are tied when they are equal.

    Parameters
    ----------
    saliency
        float32 or float64 (H, W).
    mask
        bool (H, W): the ground truth; its pixels outside `valid` do not count.
    valid
        bool (H, W): the scored region, or None for the whole image.

    Examples
    --------
    >>> ranking = Ranking(np.array([[0.9, 0.1], [0.1, 0.0]]), np.array([[True, True], [False, False]]))
    >>> ranking.levels.negatives_below.tolist(), ranking.levels.negatives_tied.tolist()
    ([1, 2], [1, 0])
    """

    saliency: Values
    mask: Mask
    valid: Mask | None = None

    @cached_property
    def positives(self) -> Values:
        """The values in the mask, ascending."""
        return self._sorted(self.mask if self.valid is None else self.mask & self.valid)

    @cached_property
    def negatives(self) -> Values:
        """The values outside the mask, ascending."""
        return self._sorted(~self.mask if self.valid is None else self.valid & ~self.mask)

    @property
    def p(self) -> int:
        """The number of mask pixels."""
        return len(self.positives)

    @property
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
        """Counts at each distinct value of the positives."""
        new = np.ones(self.p, dtype=bool)
        new[1:] = self.positives[1:] != self.positives[:-1]
        starts = np.flatnonzero(new)
        values = self.positives[starts]
        below = self.negatives.searchsorted(values, "left")
        return Levels(np.diff(starts, append=self.p), below, self._tied(values, below))

    @property
    def top(self) -> np.floating[Any]:
        """The largest value."""
        return max(side[-1] for side in (self.positives, self.negatives) if len(side))

    def cut(self, value: np.floating[Any]) -> Cut:
        """Counts above and at `value`, which has the map's own type."""
        return Cut(*_above_and_at(self.positives, value), *_above_and_at(self.negatives, value))

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


def hits_of_the_largest(ranking: Ranking) -> tuple[int, int]:
    """Number of the p largest pixels that lie in the mask, in parts of a pixel, and the number of parts in a pixel.

    Pixels tied at the last place enter in proportion, so the parts are as many as these.
    """
    cut = ranking.cut(pth_largest(ranking))
    tied = cut.positives_tied + cut.negatives_tied
    left = ranking.p - cut.positives_above - cut.negatives_above
    return cut.positives_above * tied + left * cut.positives_tied, tied


def pth_largest(ranking: Ranking) -> np.floating[Any]:
    """The p-th largest value of all, from the two sorted sides.

    The p largest are the j largest positives and the p - j largest negatives. The positive of rank j
    is among them when it beats the negative of rank p - j, which holds up to some j and not beyond.
    """
    positives, negatives, p = ranking.positives, ranking.negatives, ranking.p
    faced = min(p, ranking.n)  # the p - n largest positives face no negative at all
    beaten = np.count_nonzero(positives[:faced][::-1] > negatives[ranking.n - faced :])
    taken = p - faced + int(beaten)
    last = ([positives[p - taken]] if taken else []) + ([negatives[ranking.n - p + taken]] if taken < p else [])
    return min(last)
