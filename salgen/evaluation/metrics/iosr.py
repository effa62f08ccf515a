"""Intersection over the salient region."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.declarations import MaskMetric
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values
from salgen.parameters import param

NAMES = ("iosr",)


@dataclass(frozen=True)
class IoSR(MaskMetric):
    """Share of the salient region, S > threshold * max S, that lies in the mask.

    #{S > t max S in M} / #{S > t max S}, strictly above.

    Ties: pixels at the threshold are not salient. A constant positive map has the mask's share of the
    scored region.
    Undefined: ``zero_energy`` when no value is positive. A full mask has 1.
    """

    name: ClassVar[str] = "iosr"
    reference: ClassVar[str] = "Li et al. 2020, Quantitative evaluations on saliency methods, IoSR"

    threshold: float = param(0.5, "salient is what lies above this share of the largest value", low=0.0, high=1.0)

    def __post_init__(self) -> None:
        if self.threshold == 1.0:
            raise SalgenError(f"{self.name}: threshold = 1: no value is above the largest; give one below")

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]: two whole numbers, divided once."""
        top = ranking.top
        if top <= 0:
            return math.nan, ZERO_ENERGY
        inside, outside = (self._salient(side, top) for side in (ranking.positives, ranking.negatives))
        return inside / (inside + outside), ""

    def _salient(self, ascending: Values, top: np.floating[Any]) -> int:
        """Number of salient values; compared in units of the largest, since t * max may be too small a number."""
        first = ascending.searchsorted(ascending.dtype.type(0), "right")
        return int(np.count_nonzero(np.divide(ascending[first:], top, dtype=np.float64) > self.threshold))
