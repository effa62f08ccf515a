"""Precision at 99 % specificity."""

import math
from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import TOO_FEW_NEGATIVES, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Cut, MaskStatistics
from salgen.parameters import param

NAMES = ("prec99",)


@dataclass(frozen=True)
class Prec99(MaskMetric):
    """Precision at the lowest threshold whose specificity is strictly above 0.99.

    TP / (TP + FP*), where FP* is the largest number of false positives that is less than 1 % of the n
    pixels outside the mask, ceil(n / 100) - 1, and TP the mask pixels above the threshold.

    Ties: a group of tied pixels that FP* falls into is entered in proportion, f = (FP* - FP_before) /
    n_tied, TP = TP_before + f p_tied. A constant map has the mask's share of the scored region.
    Undefined: ``too_few_negatives`` when FP* = 0 and no mask pixel lies above all others, so that
    nothing is selected. This is the map's fault, since a better map has 1 on the same mask. A full
    mask has 1.

    With ``compat=authors_exact`` tied groups are entered whole or not at all, as in the authors' code, and where
    the topmost group alone breaks the limit the value is 1, or 0 for a constant map.
    """

    name: ClassVar[str] = "prec99"
    family: ClassVar[str] = "ranking"
    reads_pixels: ClassVar[bool] = False
    reference: ClassVar[str] = "Budding et al. 2021, PREC99"

    compat: str | None = param(
        None, "`authors_exact` keeps the authors' false 1.0 for a large plateau at the top", choices=("authors_exact",)
    )

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, ceiling]."""
        if ranking.n == 0:
            return 1.0, ""
        allowed = allowed_false_positives(ranking.n)
        cut = ranking.cut_at_negative(allowed_false_positives)  # the first negative too many
        if self.compat:
            return _whole_groups(ranking, cut), ""
        # Both terms times n_tied, so that they are integers and divided once.
        true = cut.positives_above * cut.negatives_tied + (allowed - cut.negatives_above) * cut.positives_tied
        selected = true + allowed * cut.negatives_tied
        return (true / selected, "") if selected else (math.nan, TOO_FEW_NEGATIVES)

    def ceiling(self, p: int, n: int) -> float:
        """With FP* false positives let in, p / (p + FP*); 1 under `compat`."""
        return 1.0 if self.compat else p / (p + allowed_false_positives(n))


def allowed_false_positives(n: int) -> int:
    """FP*: the largest integer below n / 100, or 0."""
    return max(n - 1, 0) // 100


def _whole_groups(ranking: MaskStatistics, cut: Cut) -> float:
    selected = cut.positives_above + cut.negatives_above
    if selected:
        return cut.positives_above / selected
    constant = cut.positives_tied + cut.negatives_tied == ranking.p + ranking.n
    return 0.0 if constant else 1.0
