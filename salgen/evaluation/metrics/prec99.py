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

    TP / (TP + FP*). FP* = ceil(n / 100) - 1 is the largest number of false positives below 1 % of the n pixels outside
    the mask. TP is the mask pixels above the threshold.

    Ties: a tied group that FP* falls into is entered in proportion. A constant map has the mask's share of the region.
    Undefined: ``too_few_negatives`` when FP* = 0 and no mask pixel lies above all others, so nothing is selected. A
    better map has 1 on the same mask. A full mask has 1.
    Errata: the authors' code enters tied groups whole or not at all (``compat=authors_exact``). Where the topmost group
    alone breaks the limit it gives 1, or 0 for a constant map.
    """

    name: ClassVar[str] = "prec99"
    family: ClassVar[str] = "ranking"
    reads_pixels: ClassVar[bool] = False
    reference: ClassVar[str] = "Budding et al. 2021, PREC99, doi:10.48550/arXiv.2112.04882"

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
