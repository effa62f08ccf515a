"""The F1 score of the scaled map as a soft mask."""

import math
from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import MaskStatistics
from salgen.parameters import by_parameters, param

NAMES = ("soft-f1",)


@dataclass(frozen=True)
class SoftF1(MaskMetric):
    """Pixel-wise F1 score of the scaled map, with no threshold.

    2 P R / (P + R) = 2 sum S M / (sum S + p). S is the map scaled to [0, 1] over the scored region, M the mask of p
    pixels. P = sum S M / sum S, and R = sum S M / p. It is 0 where no mask pixel has a value. With ``within=box`` M is
    the mask's bounding box.

    Undefined: ``zero_energy`` for a constant map, whose S is 0 everywhere.
    Errata: the code of Aabid & Sicre reports this beside hard scores as "F1", and in one column as "AME". The hard ones
    are `f1-box`, `f1-mask` and `dice`.
    """

    name: ClassVar[str] = "soft-f1"
    reads_pixels: ClassVar[bool] = False
    reference: ClassVar[str] = (
        "Aabid & Sicre, Foreground segmentation to measure deep neural networks interpretability, code"
    )

    within: str = param("mask", "what the map is compared with: the mask, or its bounding box", choices=("box", "mask"))

    @by_parameters(True)
    def ignores_position(self) -> bool:
        """Whether only the mask's size matters."""
        return self.within == "mask"

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, 1]."""
        ranking = ranking if self.within == "mask" else ranking.boxed
        inside, outside = ranking.scaled_sums
        total = inside + outside
        return (2.0 * inside / (total + ranking.p), "") if total > 0.0 else (math.nan, ZERO_ENERGY)

    def ceiling(self, p: int, n: int) -> float:
        """1; undefined for a full mask, which as a map is constant, and in the box, where the mask's shape decides."""
        return 1.0 if n and self.within == "mask" else math.nan
