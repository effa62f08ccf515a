"""Agreement of a map with the exact attribution of a designed network.

A map is summed over the rectangles (pixels, patches or slots) that the exact attribution is stated for, in float64:
s; the exact values are e. Signs count, so maps should not have been made absolute (``reduce=sum``).
"""

import math
from dataclasses import dataclass
from typing import Any
import numpy as np
from salgen.evaluation.metrics.inputs.map_similarity import pearson, ranks
from salgen.evaluation.metrics.inputs.metric import (
    CONSTANT_ATTRIBUTION,
    CONSTANT_MAP,
    ZERO_ATTRIBUTION,
    ZERO_ENERGY,
    MaskMetric,
)
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.types import Float32, Float64


@dataclass(frozen=True)
class AttributionMetric(MaskMetric):
    """Base: write ``compare(s, e) -> (value, reason)`` for flat float64 arrays of equal length."""

    family = "attribution"
    needs = frozenset({"attribution"})
    regional = False
    ignores_position = False

    def __call__(self, ranking: Ranking, *, attribution: Float32) -> tuple[float, str]:
        """The value for one map."""
        exact = attribution.astype(np.float64).ravel()
        return self.compare(summed(ranking.saliency, attribution.shape).ravel(), exact)

    def compare(self, sums: Float64, exact: Float64) -> tuple[float, str]:
        """The value for the sums of a map, and the reason why it is NaN."""
        raise NotImplementedError


@dataclass(frozen=True)
class AttributionCosine(AttributionMetric):
    """Cosine of the angle between the map and the exact attribution.

    sum s e / (|s| |e|), with e the exact attribution and s the map summed over the rectangles for which e is stated.

    Undefined: ``zero_attribution`` where e is 0 everywhere; ``zero_energy`` where s is.
    """

    name = "attribution-cosine"
    bounds = (-1.0, 1.0)
    reference = (
        "cosine similarity; of designed networks as in Zhang et al. 2023, AttributionLab, doi:10.48550/arXiv.2310.06514"
    )

    def compare(self, sums: Float64, exact: Float64) -> tuple[float, str]:
        """In [-1, 1]."""
        if not exact.any():
            return math.nan, ZERO_ATTRIBUTION
        if not sums.any():
            return math.nan, ZERO_ENERGY
        s, e = (values / abs(values).max() for values in (sums, exact))
        return float(np.clip(s @ e / math.sqrt((s @ s) * (e @ e)), -1.0, 1.0)), ""


@dataclass(frozen=True)
class AttributionRankCorrelation(AttributionMetric):
    """Spearman's correlation of the map with the exact attribution.

    s and e are as in `attribution-cosine`.

    Ties: tied values share the mean of their ranks.
    Undefined: ``constant_attribution`` where e is constant; ``constant_map`` where s is.
    """

    name = "attribution-rank-correlation"
    bounds = (-1.0, 1.0)
    reference = "Spearman 1904, with mean ranks for ties, doi:10.2307/1412159"

    def compare(self, sums: Float64, exact: Float64) -> tuple[float, str]:
        """In [-1, 1]."""
        if np.ptp(exact) == 0:
            return math.nan, CONSTANT_ATTRIBUTION
        if np.ptp(sums) == 0:
            return math.nan, CONSTANT_MAP
        return pearson(ranks(sums), ranks(exact)), ""


@dataclass(frozen=True)
class AttributionSignShare(AttributionMetric):
    """Share of the map's mass that has the right sign, where the exact attribution is not 0.

    sum of |s| where s e > 0 / sum of |s| where e != 0, with s and e as in `attribution-cosine`.

    Undefined: ``zero_attribution`` where e is 0 everywhere; ``zero_energy`` where s is 0 wherever e is not.
    """

    name = "attribution-sign-share"
    reference = "this project"

    def compare(self, sums: Float64, exact: Float64) -> tuple[float, str]:
        """In [0, 1]."""
        if not exact.any():
            return math.nan, ZERO_ATTRIBUTION
        mass = _relative(sums[exact != 0])
        right = np.sign(sums[exact != 0]) == np.sign(exact[exact != 0])
        return (float(mass[right].sum() / mass.sum()), "") if mass.any() else (math.nan, ZERO_ENERGY)


@dataclass(frozen=True)
class CompletenessError(AttributionMetric):
    """Error of the map's sum against the exact attribution's, which is what the logit gained in all.

    |sum s - sum e| / sum |e|, with s and e as in `attribution-cosine`. Only methods that distribute the logit, or its
    change from a baseline, aim at 0.

    Undefined: ``zero_attribution`` where e is 0 everywhere.
    """

    name = "completeness-error"
    higher_is_better = False
    bounds = (0.0, math.inf)
    reference = "Sundararajan et al. 2017, axiom of completeness, doi:10.48550/arXiv.1703.01365"

    def compare(self, sums: Float64, exact: Float64) -> tuple[float, str]:
        """0 or more."""
        if not exact.any():
            return math.nan, ZERO_ATTRIBUTION
        return float(abs(sums.sum() - exact.sum()) / abs(exact).sum()), ""


@dataclass(frozen=True)
class FalseAttribution(AttributionMetric):
    """Share of the map's mass where the exact attribution is 0.

    sum of |s| where e = 0 / sum of |s|, with s and e as in `attribution-cosine`. Where e is 0 everywhere, a map of
    zeros has 0 and any other one 1.

    Undefined: ``zero_energy`` where s is 0 everywhere and e is not.
    """

    name = "false-attribution"
    higher_is_better = False
    reference = (
        "Rao et al. 2022, Towards better understanding attribution methods, section 3 (DiFull), "
        "doi:10.48550/arXiv.2205.10435"
    )

    def compare(self, sums: Float64, exact: Float64) -> tuple[float, str]:
        """In [0, 1]."""
        mass = _relative(sums)
        if not mass.any():
            return (math.nan, ZERO_ENERGY) if exact.any() else (0.0, "")
        return float(mass[exact == 0].sum() / mass.sum()), ""


def summed(saliency: Any, shape: tuple[int, ...]) -> Float64:
    """A map (H, W) summed over equal rectangles, float64 of `shape`, which divides its own.

    Examples
    --------
    >>> summed(np.arange(8.0).reshape(2, 4), (1, 2))
    array([[10., 18.]])
    """
    (height, width), (rows, columns) = saliency.shape, shape
    parts = saliency.reshape(rows, height // rows, columns, width // columns)
    return np.asarray(parts.sum(axis=(1, 3), dtype=np.float64))


def _relative(values: Float64) -> Float64:
    """Sizes of values in units of the largest, whose sum cannot overflow."""
    largest = abs(values).max(initial=0.0)
    return abs(values) / largest if largest else values * 0.0
