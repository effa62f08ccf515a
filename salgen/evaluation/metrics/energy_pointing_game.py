"""The energy-based pointing game."""

import math
from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import MaskStatistics
from salgen.evaluation.metrics.relevance_mass import RelevanceMass
from salgen.parameters import by_parameters, param

NAMES = ("energy-pointing-game",)


@dataclass(frozen=True)
class EnergyPointingGame(MaskMetric):
    """Share of the map's positive part that lies in the mask's bounding box, or in the mask.

    sum of max(S, 0) over the box / sum of max(S, 0) over the scored region. The box is the smallest that
    holds the whole mask, its edges included, even where the mask has several parts; what of it lies outside the
    scored region does not count. With ``within=mask`` this is relevance-mass, and never larger.

    With ``relative=true`` the share is divided by the share of the scored region that the box (or the mask)
    covers: how many times more than a constant map, which has 1; not bounded by 1.

    Ties: no ranking is involved. A constant positive map has the box's (or the mask's) share of the scored region.
    Undefined: ``zero_energy`` when no value is positive. A full mask has 1.

    Errata: the formula is printed for maps without signs; on signed ones a sum of all values can be
    anything, so the positive part is taken.
    """

    name: ClassVar[str] = "energy-pointing-game"
    reads_pixels: ClassVar[bool] = False
    reference: ClassVar[str] = "Wang et al. 2020, Score-CAM, energy-based pointing game"

    within: str = param("box", "count what lies in the mask's bounding box, or in the mask", choices=("box", "mask"))
    relative: bool = param(False, "divide by the share that a constant map has")

    @by_parameters(False)
    def ignores_position(self) -> bool:
        """Whether only the mask's size matters."""
        return self.within == "mask"

    @by_parameters(MaskMetric.bounds)
    def bounds(self) -> tuple[float, float]:
        """Where relative, without an upper bound."""
        return (0.0, math.inf) if self.relative else MaskMetric.bounds

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, 1], or [0, region / area] where relative."""
        area = ranking if self.within == "mask" else ranking.boxed
        value, reason = RelevanceMass()(area)
        return (value * (area.p + area.n) / area.p if self.relative else value), reason

    def ceiling(self, p: int, n: int) -> float:
        """1; where relative (p + n) / p in the mask, and in the box what its shape makes of it."""
        if not self.relative:
            return 1.0
        return (p + n) / p if self.within == "mask" else math.nan
