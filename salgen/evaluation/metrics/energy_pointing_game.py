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

    sum of max(S, 0) over the box / sum of max(S, 0) over the scored region. One box, edges included, holds all parts of
    the mask. Box pixels outside the scored region do not count. ``within=mask`` is `relevance-mass`, which is never
    larger. ``relative=true`` divides by a constant map's value, so the range has no upper bound.

    Ties: a constant positive map has the box's (or the mask's) share of the region.
    Undefined: ``zero_energy`` when no value is positive.
    Errata: the paper's formula is for maps without signs; of signed maps the positive part counts.
    """

    name: ClassVar[str] = "energy-pointing-game"
    reads_pixels: ClassVar[bool] = False
    reference: ClassVar[str] = (
        "Wang et al. 2020, Score-CAM, energy-based pointing game, doi:10.1109/CVPRW50498.2020.00020"
    )

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
