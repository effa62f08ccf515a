"""What metrics ask of a map under a mask, if counts and sums over its pixels are all that they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


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


class MaskStatistics(Protocol):
    """Counts and sums of one map under one mask, within the scored region.

    :class:`~salgen.evaluation.metrics.inputs.ranking.Ranking` computes them by NumPy for one map, and
    :class:`~salgen.evaluation.metrics.inputs.batched_ranking.BatchedRanking` by PyTorch for many. Counts are equal;
    sums may differ by their rounding. Pairs are (in the mask, outside it). Where it says so, the map must be finite.
    Results are kept by the function or number that they were asked for with, so give a function of a module, no lambda.
    """

    @property
    def p(self) -> int:
        """The number of mask pixels."""

    @property
    def n(self) -> int:
        """The number of pixels outside the mask."""

    @property
    def finite(self) -> bool:
        """True if every value is finite."""

    def over_positives(self, term: Callable[[Levels], Any]) -> float:
        """The sum over the mask pixels of a term of the counts at their values; `term` is elementwise arithmetic."""

    def cut(self, value: Any) -> Cut:
        """Counts above and at a value of the map's own type."""

    @property
    def cut_at_top(self) -> Cut:
        """Counts at the largest value."""

    @property
    def cut_at_pth_largest(self) -> Cut:
        """Counts above and at the p-th largest value of all."""

    def cut_at_negative(self, surpassing: Callable[[int], int]) -> Cut:
        """Counts above and at the (surpassing(n) + 1)-th largest value outside the mask, which must not be full."""

    def above_scaled(self, threshold: float) -> tuple[int, int]:
        """Numbers of pixels whose value, scaled to [0, 1], is above a threshold; finite."""

    def above_share_of_top(self, threshold: float) -> tuple[int, int]:
        """Numbers of pixels whose value is above a share, 0 or more, of the largest; 0 if none is positive; finite."""

    @property
    def masses(self) -> tuple[float, float]:
        """Sums of the positive values in units of the largest, which cannot overflow; 0 if none is positive; finite."""

    @property
    def scaled_sums(self) -> tuple[float, float]:
        """Sums of the values scaled to [0, 1]; finite."""

    @property
    def boxed(self) -> MaskStatistics:
        """The same map against the bounding box of the mask."""


def hits_of_the_largest(ranking: MaskStatistics) -> tuple[int, int]:
    """Number of the p largest pixels that lie in the mask, in parts of a pixel, and the number of parts in a pixel.

    Pixels tied at the last place enter in proportion, so the parts are as many as these.
    """
    cut = ranking.cut_at_pth_largest
    tied = cut.positives_tied + cut.negatives_tied
    left = ranking.p - cut.positives_above - cut.negatives_above
    return cut.positives_above * tied + left * cut.positives_tied, tied
