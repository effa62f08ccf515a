"""Overlap of a map with the ground truth: of predicted pixels, and of the scaled map itself."""

import math
from dataclasses import dataclass
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.boxes import Overlap, above_mean, mask_overlap
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY, MaskMetric, compat_of
from salgen.evaluation.metrics.inputs.ranking import Ranking, hits_of_the_largest
from salgen.parameters import by_parameters, param

SALIENCY_BENCH, DOI = "Zhang et al. 2025, Saliency-Bench", "doi:10.1145/3711896.3737414"


@dataclass(frozen=True)
class PredictedMask(MaskMetric):
    """A metric of the predicted mask: write ``__call__`` with :meth:`overlap`.

    `raw_threshold` is the threshold on the raw map under `compat=xaibenchmark`.
    """

    raw_threshold = 0.0

    threshold: float = param(0.5, "predicted are the pixels with mm(S) above it; below 1", low=0.0, high=1.0)
    select: str = param(
        "threshold", "`area` predicts as many pixels as the mask has, the largest", choices=("threshold", "area")
    )

    def __post_init__(self) -> None:
        choices = (self.threshold != type(self).threshold, self.select == "area", compat_of(self) is not None)
        if sum(choices) > 1:
            raise SalgenError(f"{self.name}: each of threshold, select=area and compat selects pixels: give one")

    def overlap(self, ranking: Ranking) -> Overlap:
        """The overlap of predicted mask and ground truth in the scored region, in a unit that all counts share."""
        compat = compat_of(self)
        if self.select == "area":
            hits, parts = hits_of_the_largest(ranking)
            return Overlap(hits, ranking.p * parts, ranking.p * parts)
        if compat == "xaibenchmark":
            cut = ranking.cut(self.raw_threshold)
            return Overlap(cut.positives_above, cut.positives_above + cut.negatives_above, ranking.p)
        if compat == "aabid":
            return mask_overlap(above_mean(ranking.saliency, ranking.region), ranking.truth)
        inside, outside = ranking.above_scaled(self.threshold)
        return Overlap(inside, inside + outside, ranking.p)


@dataclass(frozen=True)
class IoU(PredictedMask):
    """Intersection over union of the predicted mask and the ground truth.

    TP / (TP + FP + FN). Predicted are the pixels with mm(S) > `threshold`. mm(S) = (S - min S) / (max S - min S) over
    the scored region. The mean over images is the mIoU. ``select=area`` predicts as many of the largest pixels as the
    mask has, which needs no threshold.

    Ties: pixels at the threshold are not predicted, so a constant map has 0. With ``select=area`` pixels tied at the
    last place are entered in proportion, as in `m-gt`. A constant map then has s / (2 - s), with s the mask's share of
    the region.
    Undefined: never.
    Errata: Saliency-Bench states no threshold; its package compares the raw map with 0 (``compat=xaibenchmark``). A
    positive map then has the mask's share, whatever the model has learnt. Aabid & Sicre print TP / (TP + TN + FN).
    Their code returns the recall of the pixels with S >= mean(S), which is 1 for a constant map (``compat=aabid``).
    """

    name = "iou"
    aliases = ("miou",)
    reference = f"Jaccard 1912, doi:10.1111/j.1469-8137.1912.tb05611.x; {SALIENCY_BENCH}, mIoU, {DOI}"

    compat: str | None = param(
        None, "`xaibenchmark`: S > 0 on the raw map; `aabid`: TP / (TP + FN)", choices=("xaibenchmark", "aabid")
    )

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        overlap = self.overlap(ranking)
        return (overlap.both / overlap.reference if self.compat == "aabid" else overlap.iou), ""


@dataclass(frozen=True)
class Dice(PredictedMask):
    """Dice coefficient of the predicted mask and the ground truth: the F1 score of its pixels.

    2 TP / (2 TP + FP + FN) = 2 IoU / (1 + IoU), with the predicted mask of `iou`. With ``select=area`` Dice, precision
    and recall are `m-gt`.

    Ties: as in `iou`, and with ``select=area`` as in `m-gt`.
    Undefined: never.
    """

    name = "dice"
    reference = "Dice 1945, doi:10.2307/1932409; Sorensen 1948"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        return self.overlap(ranking).dice, ""


@dataclass(frozen=True)
class Precision(PredictedMask):
    """Share of the predicted mask that lies in the ground truth.

    TP / (TP + FP), with the predicted mask of `iou`. It is 0 with nothing predicted.

    Ties: as in `iou`, and with ``select=area`` as in `m-gt`.
    Undefined: never.
    Errata: Saliency-Bench's package compares the raw map with 0 (``compat=xaibenchmark``). It is NaN for the whole data
    set when one map has no value above 0; here that map has 0.
    """

    name = "precision"
    reference = f"{SALIENCY_BENCH}, precision, {DOI}"

    compat: str | None = param(None, "`xaibenchmark`: S > 0 on the raw map", choices=("xaibenchmark",))

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        overlap = self.overlap(ranking)
        return overlap.both / max(overlap.predicted, 1), ""


@dataclass(frozen=True)
class Recall(PredictedMask):
    """Share of the ground truth that is predicted.

    TP / (TP + FN), with the predicted mask of `iou`. A map that is high everywhere has 1: read it beside `precision`.

    Ties: as in `iou`, and with ``select=area`` as in `m-gt`.
    Undefined: never.
    Errata: Saliency-Bench's package compares the raw map with 0.5 here (``compat=xaibenchmark``), but with 0 in its IoU
    and precision. Its three values belong to two different masks.
    """

    name = "recall"
    raw_threshold = 0.5
    reference = f"{SALIENCY_BENCH}, recall, {DOI}"

    compat: str | None = param(None, "`xaibenchmark`: S > 0.5 on the raw map", choices=("xaibenchmark",))

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        overlap = self.overlap(ranking)
        return overlap.both / overlap.reference, ""


@dataclass(frozen=True)
class IoSR(MaskMetric):
    """Share of the salient region, S > threshold * max S, that lies in the mask.

    #{S > t max S in M} / #{S > t max S}, with t the threshold.

    Ties: pixels at the threshold are not salient. A constant positive map has the mask's share of the region.
    Undefined: ``zero_energy`` when no value is positive.
    """

    name = "iosr"
    reference = "Li et al. 2020, Quantitative evaluations on saliency methods, IoSR, doi:10.48550/arXiv.2012.15616"

    threshold: float = param(0.5, "salient is what lies above this share of the largest value", low=0.0, high=1.0)

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]: two whole numbers, divided once."""
        inside, outside = ranking.above_share_of_top(self.threshold)
        salient = inside + outside  # the largest is, where it is positive
        return (inside / salient, "") if salient else (math.nan, ZERO_ENERGY)


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

    name = "soft-f1"
    reference = "Aabid & Sicre, Foreground segmentation to measure deep neural networks interpretability, code"

    within: str = param("mask", "what the map is compared with: the mask, or its bounding box", choices=("box", "mask"))

    ignores_position = by_parameters(True)(lambda metric: metric.within == "mask")

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        ranking = ranking if self.within == "mask" else ranking.boxed
        inside, outside = ranking.scaled_sums
        total = inside + outside
        return (2.0 * inside / (total + ranking.p), "") if total > 0.0 else (math.nan, ZERO_ENERGY)


@dataclass(frozen=True)
class Mae(MaskMetric):
    """Mean absolute difference of the scaled map and the mask.

    mean |mm(S) - M| over the scored region, where mm(S) = (S - min S) / (max S - min S). Small masks make it small for
    any map that is mostly dark, whatever it shows.

    Ties: a constant map has mm(S) = 0 and so the mask's share of the region.
    Undefined: never. An empty mask counts: it asks for a map with few bright pixels.
    """

    name = "mae"
    takes_empty_masks = True
    higher_is_better = False
    reference = "Perazzi et al. 2012, Saliency filters, mean absolute error"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        inside, outside = ranking.scaled_sums
        return (outside + (ranking.p - inside)) / (ranking.p + ranking.n), ""
