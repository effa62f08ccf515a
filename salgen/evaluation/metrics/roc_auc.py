"""The area under the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from salgen.evaluation.metrics.inputs.declarations import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking

NAMES = ("roc-auc",)


@dataclass(frozen=True)
class RocAuc(MaskMetric):
    """Chance that a mask pixel ranks above a pixel outside the mask.

    AUC = (#{(i, j): S_i > S_j} + #{(i, j): S_i = S_j} / 2) / (p n), over all pairs of a mask pixel i and
    another pixel j: the Mann-Whitney statistic.

    Ties: a tied pair counts half, the expectation over a random order. A constant map has 0.5.
    Undefined: ``trivial_full_mask`` when no pixel lies outside the mask.
    """

    name: ClassVar[str] = "roc-auc"
    family: ClassVar[str] = "ranking"
    aliases: ClassVar[tuple[str, ...]] = ("auroc",)
    needs: ClassVar[frozenset[str]] = frozenset({"mask", "negatives"})
    reference: ClassVar[str] = "Fawcett 2006, An introduction to ROC analysis; Budding et al. 2021"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]: counted in integers and divided once."""
        at, below, tied = ranking.levels
        twice_won = int((at * (2 * below + tied)).sum())
        return twice_won / (2 * ranking.p * ranking.n), ""
