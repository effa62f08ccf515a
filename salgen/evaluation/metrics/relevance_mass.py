"""The share of positive relevance that lies in the mask."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from salgen.evaluation.metrics.inputs.declarations import MaskMetric
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values

NAMES = ("relevance-mass",)


@dataclass(frozen=True)
class RelevanceMass(MaskMetric):
    """Share of the map's positive part that lies in the mask (relevance mass accuracy).

    sum of max(S, 0) over the mask / sum of max(S, 0) over the scored region.

    Ties: no ranking is involved. A constant positive map has the mask's share of the scored region.
    Undefined: ``zero_energy`` when no value is positive. A full mask has 1.
    """

    name: ClassVar[str] = "relevance-mass"
    family: ClassVar[str] = "ranking"
    aliases: ClassVar[tuple[str, ...]] = ("relevance-mass-accuracy",)
    reference: ClassVar[str] = "Arras et al. 2022, relevance mass accuracy, on the positive part"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]; the sums are float64."""
        top = ranking.top
        if top <= 0:
            return math.nan, ZERO_ENERGY
        inside, outside = _mass(ranking.positives, top), _mass(ranking.negatives, top)
        return inside / (inside + outside), ""


def _mass(ascending: Values, top: np.floating[Any]) -> float:
    """The sum of the positive values in units of the largest, which cannot overflow."""
    first = ascending.searchsorted(ascending.dtype.type(0), "right")
    return float(np.divide(ascending[first:], top, dtype=np.float64).sum())
