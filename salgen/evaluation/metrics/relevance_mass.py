"""The share of positive relevance that lies in the mask."""

import math
from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import MaskStatistics

NAMES = ("relevance-mass",)


@dataclass(frozen=True)
class RelevanceMass(MaskMetric):
    """Share of the map's positive part that lies in the mask (relevance mass accuracy).

    sum of max(S, 0) over the mask / sum of max(S, 0) over the scored region.

    Ties: a constant positive map has the mask's share of the region.
    Undefined: ``zero_energy`` when no value is positive.
    """

    name: ClassVar[str] = "relevance-mass"
    family: ClassVar[str] = "ranking"
    reads_pixels: ClassVar[bool] = False
    aliases: ClassVar[tuple[str, ...]] = ("relevance-mass-accuracy",)
    reference: ClassVar[str] = (
        "Arras et al. 2022, relevance mass accuracy, on the positive part, doi:10.1016/j.inffus.2021.11.008"
    )

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, 1]; the sums are float64."""
        inside, outside = ranking.masses
        total = inside + outside
        return (inside / total, "") if total else (math.nan, ZERO_ENERGY)
