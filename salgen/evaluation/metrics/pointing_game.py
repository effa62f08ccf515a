"""The pointing game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from salgen.evaluation.ranking import Ranking

NAMES = ("pointing-game",)


@dataclass(frozen=True)
class PointingGame:
    """Chance that the map's largest value lies in the mask.

    #{S = max S in M} / #{S = max S}. There is no tolerance around the mask; the mean over images is
    the pointing accuracy hits / (hits + misses).

    Ties: the expectation over a random order of the largest pixels. A constant map has the mask's
    share of the scored region.
    Undefined: never, where the mask is not empty. A full mask has 1.
    """

    name: ClassVar[str] = "pointing-game"
    aliases: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str] = "sample"
    needs: ClassVar[frozenset[str]] = frozenset({"mask"})
    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    worst: ClassVar[float] = 0.0
    best_of: ClassVar[bool] = False
    reference: ClassVar[str] = (
        "Zhang et al. 2018, Top-down neural attention by excitation backprop; Li et al. 2020, eq. 10"
    )
    version: ClassVar[str] = "1"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        cut = ranking.cut(ranking.top)
        return cut.positives_tied / (cut.positives_tied + cut.negatives_tied), ""

    def ceiling(self, p: int, n: int) -> float:
        """1."""
        return 1.0
