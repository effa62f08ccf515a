"""Average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from salgen.evaluation.metrics.inputs.declarations import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking

NAMES = ("average-precision",)


@dataclass(frozen=True)
class AveragePrecision(MaskMetric):
    """Mean precision over the mask pixels, each at its own value as the threshold.

    AP = sum over thresholds t, descending, of (R_t - R_before) P_t, with precision P_t and recall R_t of
    the pixels S >= t; no interpolation. Its mean over images is the mAP of Budding et al.

    Ties: a group of tied pixels is one threshold, as in scikit-learn. A constant map has the mask's
    share of the scored region.
    Undefined: never, where the mask is not empty. A full mask has 1.
    """

    name: ClassVar[str] = "average-precision"
    family: ClassVar[str] = "ranking"
    aliases: ClassVar[tuple[str, ...]] = ("ap",)
    reference: ClassVar[str] = "Budding et al. 2021; scikit-learn's average_precision_score"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In (0, 1]."""
        at, below, _ = ranking.levels
        true = at[::-1].cumsum()[::-1]
        precision = true / (true + (ranking.n - below))
        return float((at * precision).sum() / ranking.p), ""
