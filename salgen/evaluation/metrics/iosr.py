"""Intersection over the salient region."""

import math
from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import MaskStatistics
from salgen.parameters import param

NAMES = ("iosr",)


@dataclass(frozen=True)
class IoSR(MaskMetric):
    """Share of the salient region, S > threshold * max S, that lies in the mask.

    #{S > t max S in M} / #{S > t max S}, with t the threshold.

    Ties: pixels at the threshold are not salient. A constant positive map has the mask's share of the region.
    Undefined: ``zero_energy`` when no value is positive.
    """

    name: ClassVar[str] = "iosr"
    reads_pixels: ClassVar[bool] = False
    reference: ClassVar[str] = (
        "Li et al. 2020, Quantitative evaluations on saliency methods, IoSR, doi:10.48550/arXiv.2012.15616"
    )

    threshold: float = param(0.5, "salient is what lies above this share of the largest value", low=0.0, high=1.0)

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, 1]: two whole numbers, divided once."""
        inside, outside = ranking.above_share_of_top(self.threshold)
        salient = inside + outside  # the largest is, where it is positive
        return (inside / salient, "") if salient else (math.nan, ZERO_ENERGY)
