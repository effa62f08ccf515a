"""The pointing game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from salgen.evaluation.metrics.declarations import MaskMetric
from salgen.evaluation.ranking import Ranking

NAMES = ("pointing-game",)


@dataclass(frozen=True)
class PointingGame(MaskMetric):
    """Chance that the map's largest value lies in the mask.

    #{S = max S in M} / #{S = max S}. There is no tolerance around the mask; the mean over images is
    the pointing accuracy hits / (hits + misses).

    Ties: the expectation over a random order of the largest pixels. A constant map has the mask's
    share of the scored region.
    Undefined: never, where the mask is not empty. A full mask has 1.
    """

    name: ClassVar[str] = "pointing-game"
    reference: ClassVar[str] = (
        "Zhang et al. 2018, Top-down neural attention by excitation backprop; Li et al. 2020, eq. 10"
    )

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        cut = ranking.cut(ranking.top)
        return cut.positives_tied / (cut.positives_tied + cut.negatives_tied), ""
