"""Two models' maps of one image: one model needs the feature, the other does not."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.evaluation.metrics.g_cf import bam_map, beside, mean_in_mask
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values

NAMES = ("mcs", "mcr")


@dataclass(frozen=True)
class Contrasted(MaskMetric):
    """A metric of one image under two models, both of which classify it rightly."""

    kind: ClassVar[str] = "pair"
    family: ClassVar[str] = "contrast"
    needs: ClassVar[frozenset[str]] = frozenset({"mask", "paired_maps"})
    only_correct: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)


@dataclass(frozen=True)
class Mcs(Contrasted):
    """Model contrast score: how much stronger the feature is for the model that needs it.

    S_cf(f_o) - S_cf(f_s), with S_cf as in `g-cf` on the feature's mask. The map under test explains f_o, the model that
    needs the feature (BAM's object model). The paired map explains f_s, the model that does not (the scene model).
    Where the models know different classes, each map explains its own model's class.

    Undefined: never. A constant map has S_cf = 0.
    Errata: two equations restrict the images to different sets. Here both models must be right.
    """

    name: ClassVar[str] = "mcs"
    aliases: ClassVar[tuple[str, ...]] = ("model-contrast-score",)
    reference: ClassVar[str] = (
        "Yang & Kim 2019, Benchmarking attribution methods, doi:10.48550/arXiv.1907.09701; Li et al. 2020, MCS, "
        "doi:10.48550/arXiv.2012.15616"
    )

    def __call__(self, ranking: Ranking, paired_map: Values, **_: Any) -> tuple[float, str]:
        """In [-1, 1]."""
        return mean_in_mask(ranking) - mean_in_mask(beside(ranking, paired_map)), ""


@dataclass(frozen=True)
class Mcr(Contrasted):
    """Model contrast ratio: how much larger the feature's share of the map is for the model that needs it.

    share(E_o) - share(E_s), with share(E) = sum of E over the mask / sum of E, and E as in `g-cf`. E_o is the map under
    test, of the model f_o that needs the feature. E_s is the paired map, of the model f_s that does not.

    Undefined: ``zero_energy`` where E is 0 everywhere in one of the two maps, as in a constant map. Two equal maps have
    0.
    Errata: eq. 18 prints f_o in both terms; here the second term is f_s's. Both are shares of the whole: with the mean
    of eq. 11 the paper's table would be some p times smaller.
    """

    name: ClassVar[str] = "mcr"
    aliases: ClassVar[tuple[str, ...]] = ("model-contrast-ratio",)
    reference: ClassVar[str] = "Li et al. 2020, eq. 18, corrected, doi:10.48550/arXiv.2012.15616"

    def __call__(self, ranking: Ranking, paired_map: Values, **_: Any) -> tuple[float, str]:
        """In [-1, 1]."""
        difference = _share(ranking) - _share(beside(ranking, paired_map))
        return difference, ZERO_ENERGY if math.isnan(difference) else ""


def _share(ranking: Ranking) -> float:
    """The mask's share of E; NaN where there is none."""
    energy = bam_map(ranking)
    total = float(energy.sum())
    return min(float(energy[ranking.truth].sum()) / total, 1.0) if total else math.nan
