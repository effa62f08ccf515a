"""Average precision."""

from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Levels, MaskStatistics

NAMES = ("average-precision",)


@dataclass(frozen=True)
class AveragePrecision(MaskMetric):
    """Mean precision over the mask pixels, each at its own value as the threshold.

    AP = sum over thresholds t, descending, of (R_t - R_before) P_t, without interpolation. P_t and R_t are precision
    and recall of the pixels S >= t. Its mean is the mAP of Budding et al.

    Ties: a group of tied pixels is one threshold, as in scikit-learn. A constant map has the mask's share of the
    region.
    Undefined: never.
    """

    name: ClassVar[str] = "average-precision"
    family: ClassVar[str] = "ranking"
    reads_pixels: ClassVar[bool] = False
    aliases: ClassVar[tuple[str, ...]] = ("ap",)
    reference: ClassVar[str] = (
        "Budding et al. 2021, doi:10.48550/arXiv.2112.04882; scikit-learn's average_precision_score"
    )

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In (0, 1]."""
        return ranking.over_positives(_precision) / ranking.p, ""


def _precision(levels: Levels) -> Any:
    """The precision of the pixels S >= t at the value t of a mask pixel."""
    return levels.positives_from / (levels.positives_from + levels.negatives_from)
