"""The F1 score of the box and of the pixels that a map marks."""

from dataclasses import dataclass
from typing import ClassVar

from salgen.evaluation.metrics.inputs.boxes import MarkMetric, marked_box_overlap, marked_mask_overlap
from salgen.evaluation.metrics.inputs.ranking import Ranking

NAMES = ("f1-box", "f1-mask")

PAPER = "Aabid & Sicre, Foreground segmentation to measure deep neural networks interpretability"


@dataclass(frozen=True)
class F1Box(MarkMetric):
    """Dice coefficient of the boxes around what the map marks and around the mask.

    2 |A and B| / (|A| + |B|), where A is the tight box of the largest 8-connected component of the pixels with
    S >= mean(S) in the scored region, and B the tight box of the whole mask. It is 2 (1 - LE) / (2 - LE) with
    `localization-error` LE.

    Ties: pixels equal to the mean are marked; of components of equal size the first in raster order counts. A
    constant map, tested exactly, marks all of the region.
    Undefined: never, where the mask is not empty.
    Errata: the paper prints 2 TP / (2 TP + TN + FN); it is 2 TP / (2 TP + FP + FN). The values of its table are of
    the kind of `soft-f1`.
    """

    name: ClassVar[str] = "f1-box"
    reference: ClassVar[str] = f"{PAPER}, F1"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        return marked_box_overlap(ranking).dice, ""


@dataclass(frozen=True)
class F1Mask(MarkMetric):
    """Dice coefficient of what the map marks and the mask.

    2 |A and M| / (|A| + |M|), where A is the largest 8-connected component of the pixels with S >= mean(S) in the
    scored region, and M the whole mask. It is 2 (1 - MLE) / (2 - MLE) with `mask-localization-error` MLE.

    Ties: pixels equal to the mean are marked; of components of equal size the first in raster order counts. A
    constant map, tested exactly, marks all of the region.
    Undefined: never, where the mask is not empty.
    Errata: as `f1-box`.
    """

    name: ClassVar[str] = "f1-mask"
    reference: ClassVar[str] = f"{PAPER}, MF1"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        return marked_mask_overlap(ranking).dice, ""
