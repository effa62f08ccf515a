"""What a map marks against the mask: the localization error, and the F1 score, of boxes and of pixels."""

from dataclasses import dataclass
from salgen.evaluation.metrics.inputs import boxes
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.parameters import param
from salgen.types import Mask

PAPER = "Aabid & Sicre, Foreground segmentation to measure deep neural networks interpretability"
COMPAT_HELP = "`aabid`: 1 - recall, as in the paper's code"


@dataclass(frozen=True)
class MarkMetric(MaskMetric):
    """A metric of the pixels that a map marks, which depends on where they are."""

    ignores_position = False


@dataclass(frozen=True)
class LocalizationErrorMetric(MarkMetric):
    """One minus the intersection over union of the boxes around what the map marks and around the mask.

    1 - |A and B| / |A or B|. A is the tight box of the largest 8-connected component of the marked pixels, which have
    S >= mean(S) in the scored region. B is the tight box of the whole mask. Boxes include their last row and column.

    Ties: pixels equal to the mean are marked. Of equally large components the first in raster order counts. A constant
    map marks all of the region: 1 - |B| / |box of the region|.
    Undefined: never.
    Errata: the paper prints the union as TP + TN + FN; it is TP + FP + FN. Its code computes recall, which rewards
    marking everything: ``compat=aabid`` has 1 - |A and B| / |B|. The code's boxes, a row and a column off, are not
    reproduced.
    """

    name = "localization-error"
    higher_is_better = False
    reference = f"{PAPER}, LE; Russakovsky et al. 2015, doi:10.1007/s11263-015-0816-y"

    compat: str | None = param(None, COMPAT_HELP, choices=("aabid",))

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        return error(marked_box_overlap(ranking), self.compat), ""


@dataclass(frozen=True)
class MaskLocalizationError(MarkMetric):
    """One minus the intersection over union of what the map marks and the mask.

    1 - |A and M| / |A or M|. A is the largest 8-connected component of the pixels with S >= mean(S) in the scored
    region, M the whole mask. Of a mask in several pieces no map can mark more than one.

    Ties: as in `localization-error`. A constant map marks all of the region, or the largest piece of a region in
    several.
    Undefined: never.
    Errata: as in `localization-error`. ``compat=aabid`` has 1 - |A and M| / |M|, from the code's recall.
    """

    name = "mask-localization-error"
    higher_is_better = False
    reference = f"{PAPER}, MLE"

    compat: str | None = param(None, COMPAT_HELP, choices=("aabid",))

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        return error(marked_mask_overlap(ranking), self.compat), ""


@dataclass(frozen=True)
class OfficialLocalizationError(MarkMetric):
    """The localization error where the sample is classified rightly, and 1 where it is not.

    Ties: as in `localization-error`.
    Undefined: never.
    Errata: the paper's code gives a misclassified sample 0, the best value. ``compat=aabid`` does so too, and takes 1 -
    recall for the others.
    """

    name = "official-localization-error"
    needs = frozenset({"mask", "correct"})
    higher_is_better = False
    reference = f"{PAPER}, official LE; Russakovsky et al. 2015, doi:10.1007/s11263-015-0816-y"

    compat: str | None = param(None, f"{COMPAT_HELP}; 0 for a misclassified sample", choices=("aabid",))

    def __call__(self, ranking: Ranking, correct: bool) -> tuple[float, str]:
        """In [0, 1]."""
        if not correct:
            return (0.0 if self.compat else 1.0), ""
        return error(marked_box_overlap(ranking), self.compat), ""


def error(overlap: boxes.Overlap, compat: str | None) -> float:
    """One minus the intersection over union; under `compat` over the reference alone. Counted, and divided once."""
    whole = overlap.reference if compat else overlap.union
    return (whole - overlap.both) / whole


@dataclass(frozen=True)
class F1Box(MarkMetric):
    """Dice coefficient of the boxes around what the map marks and around the mask.

    2 |A and B| / (|A| + |B|), with A and B as in `localization-error` (LE). It is 2 (1 - LE) / (2 - LE).

    Ties: as in `localization-error`.
    Undefined: never.
    Errata: the paper prints 2 TP / (2 TP + TN + FN); it is 2 TP / (2 TP + FP + FN). The values of its table are of the
    kind of `soft-f1`.
    """

    name = "f1-box"
    reference = f"{PAPER}, F1"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        return marked_box_overlap(ranking).dice, ""


@dataclass(frozen=True)
class F1Mask(MarkMetric):
    """Dice coefficient of what the map marks and the mask.

    2 |A and M| / (|A| + |M|), with A and M as in `mask-localization-error` (MLE). It is 2 (1 - MLE) / (2 - MLE).

    Ties: as in `mask-localization-error`.
    Undefined: never.
    Errata: as in `f1-box`.
    """

    name = "f1-mask"
    reference = f"{PAPER}, MF1"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        return marked_mask_overlap(ranking).dice, ""


def marked(ranking: Ranking) -> Mask:
    """The pixels that a map marks within the scored region: the largest component of those at or above its mean."""
    return boxes.largest_component(boxes.above_mean(ranking.saliency, ranking.region))


def marked_mask_overlap(ranking: Ranking) -> boxes.Overlap:
    """The overlap of the pixels that the map marks with the mask."""
    return boxes.mask_overlap(marked(ranking), ranking.truth)


def marked_box_overlap(ranking: Ranking) -> boxes.Overlap:
    """The overlap of the box around the marked pixels with the box around the whole mask."""
    return boxes.box_overlap(boxes.tight_box(marked(ranking)), boxes.tight_box(ranking.truth))
