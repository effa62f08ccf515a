"""The share of the mask that the map's largest values hit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from salgen.evaluation.metrics.inputs.declarations import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking

NAMES = ("m-gt",)


@dataclass(frozen=True)
class MGt(MaskMetric):
    """Share of the p largest values that lie in the mask of p pixels (relevance rank accuracy).

    With t the p-th largest value: (#{S > t in M} + (p - #{S > t}) #{S = t in M} / #{S = t}) / p. Several
    acceptable masks are scored by the best of them, each with its own p.

    Ties: the closed form above is the expectation over a random order of the pixels tied at t. A
    constant map has the mask's share of the scored region.
    Undefined: never, where the mask is not empty. A full mask has 1.
    """

    name: ClassVar[str] = "m-gt"
    family: ClassVar[str] = "ranking"
    aliases: ClassVar[tuple[str, ...]] = ("relevance-rank-accuracy",)
    reference: ClassVar[str] = "Szczepankiewicz et al. 2023, m_GT; Arras et al. 2022, relevance rank accuracy"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]: counted in integers and divided once."""
        hits, tied = hits_of_the_largest(ranking)
        return hits / (ranking.p * tied), ""


def hits_of_the_largest(ranking: Ranking) -> tuple[int, int]:
    """How many of the p largest pixels lie in the mask, in parts of a pixel, and how many parts a pixel has.

    Pixels tied at the last place enter in proportion, so the parts are as many as these.
    """
    cut = ranking.cut(pth_largest(ranking))
    tied = cut.positives_tied + cut.negatives_tied
    left = ranking.p - cut.positives_above - cut.negatives_above
    return cut.positives_above * tied + left * cut.positives_tied, tied


def pth_largest(ranking: Ranking) -> np.floating[Any]:
    """The p-th largest value of all, from the two sorted sides.

    The p largest are the j largest positives and the p - j largest negatives. The positive of rank j
    is among them when it beats the negative of rank p - j, which holds up to some j and not beyond.
    """
    positives, negatives, p = ranking.positives, ranking.negatives, ranking.p
    faced = min(p, ranking.n)  # the p - n largest positives face no negative at all
    beaten = np.count_nonzero(positives[:faced][::-1] > negatives[ranking.n - faced :])
    taken = p - faced + int(beaten)
    last = ([positives[p - taken]] if taken else []) + ([negatives[ranking.n - p + taken]] if taken < p else [])
    return min(last)
