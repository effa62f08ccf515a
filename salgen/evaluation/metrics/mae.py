"""The mean absolute error of the map as a mask."""

from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import MaskStatistics

NAMES = ("mae",)


@dataclass(frozen=True)
class Mae(MaskMetric):
    """Mean absolute difference of the scaled map and the mask.

    mean |mm(S) - M| over the scored region, where mm(S) = (S - min S) / (max S - min S). Small masks make it small for
    any map that is mostly dark, whatever it shows.

    Ties: a constant map has mm(S) = 0 and so the mask's share of the region.
    Undefined: never. An empty mask counts: it asks for a map with few bright pixels.
    """

    name: ClassVar[str] = "mae"
    reads_pixels: ClassVar[bool] = False
    takes_empty_masks: ClassVar[bool] = True
    higher_is_better: ClassVar[bool | None] = False
    reference: ClassVar[str] = "Perazzi et al. 2012, Saliency filters, mean absolute error"

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, 1]."""
        inside, outside = ranking.scaled_sums
        return (outside + (ranking.p - inside)) / (ranking.p + ranking.n), ""

    def ceiling(self, p: int, n: int) -> float:
        """0, but 1 for a full mask, which as a map is constant."""
        return 1.0 if n == 0 else 0.0
