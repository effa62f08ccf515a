"""The share of the mask that the map's largest values hit."""

from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import MaskStatistics, hits_of_the_largest

NAMES = ("m-gt",)


@dataclass(frozen=True)
class MGt(MaskMetric):
    """Share of the p largest values that lie in the mask of p pixels (relevance rank accuracy).

    (#{S > t in M} + (p - #{S > t}) #{S = t in M} / #{S = t}) / p. t is the p-th largest value. Of several acceptable
    masks the best counts, each with its own p.

    Ties: the formula is the expectation over a random order of the pixels tied at t. A constant map has the mask's
    share of the region.
    Undefined: never.
    """

    name: ClassVar[str] = "m-gt"
    family: ClassVar[str] = "ranking"
    reads_pixels: ClassVar[bool] = False
    aliases: ClassVar[tuple[str, ...]] = ("relevance-rank-accuracy",)
    reference: ClassVar[str] = (
        "Szczepankiewicz et al. 2023, m_GT, doi:10.1038/s41598-023-42946-w; Arras et al. 2022, relevance rank "
        "accuracy, doi:10.1016/j.inffus.2021.11.008"
    )

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, 1]: counted in integers and divided once."""
        hits, tied = hits_of_the_largest(ranking)
        return hits / (ranking.p * tied), ""
