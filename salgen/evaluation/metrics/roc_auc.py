"""The area under the ROC curve."""

from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Levels, MaskStatistics

NAMES = ("roc-auc",)


@dataclass(frozen=True)
class RocAuc(MaskMetric):
    """Chance that a mask pixel ranks above a pixel outside the mask.

    (#{S_i > S_j} + #{S_i = S_j} / 2) / (p n), the Mann-Whitney statistic. Its pairs are one of p mask pixels i and one
    of n others j.

    Ties: a tied pair counts half, the expectation over a random order. A constant map has 0.5.
    Undefined: ``trivial_full_mask`` when no pixel lies outside the mask.
    """

    name: ClassVar[str] = "roc-auc"
    family: ClassVar[str] = "ranking"
    reads_pixels: ClassVar[bool] = False
    aliases: ClassVar[tuple[str, ...]] = ("auroc",)
    needs: ClassVar[frozenset[str]] = frozenset({"mask", "negatives"})
    reference: ClassVar[str] = (
        "Fawcett 2006, An introduction to ROC analysis, doi:10.1016/j.patrec.2005.10.010; Budding et al. 2021, "
        "doi:10.48550/arXiv.2112.04882"
    )

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, 1]: counted in whole numbers and divided once."""
        return ranking.over_positives(_twice_beaten) / (2 * ranking.p * ranking.n), ""


def _twice_beaten(levels: Levels) -> Any:
    """Twice the number of pixels outside the mask that a mask pixel beats, those tied with it counting half."""
    return 2 * levels.negatives_below + levels.negatives_tied
