"""The pointing games: of the largest value, and of the map's energy."""

import math
from dataclasses import dataclass
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.ranking_metrics import RelevanceMass
from salgen.parameters import by_parameters, param
from salgen.types import Mask


@dataclass(frozen=True)
class PointingGame(MaskMetric):
    """Chance that the map's largest value lies in the mask.

    #{S = max S in M} / #{S = max S}. The mean over images is the pointing accuracy hits / (hits + misses). A
    `tolerance` of r adds to M all pixels of the scored region that are closer to it than r. The largest value is still
    sought in the whole region.

    Ties: the expectation over a random order of the largest pixels. A constant map has the mask's share of the region.
    With ``ties=any`` one hit is enough, which a constant map always has. With ``ties=first`` the first in reading order
    decides.
    Undefined: never.
    Errata: Saliency-Bench's package takes any of the largest pixels (``compat=xaibenchmark``).
    """

    name = "pointing-game"
    reference = (
        "Zhang et al. 2018, Top-down neural attention by excitation backprop, doi:10.1007/s11263-017-1059-x; Li et "
        "al. 2020, eq. 10, doi:10.48550/arXiv.2012.15616"
    )

    tolerance: float = param(0.0, "pixels closer to the mask than this count as in it (Zhang et al.: 15)", low=0.0)
    ties: str = param("expected", "which of several largest pixels counts", choices=("expected", "any", "first"))
    compat: str | None = param(None, "`xaibenchmark`: any of the largest pixels", choices=("xaibenchmark",))

    def __post_init__(self) -> None:
        if self.compat and (self.tolerance or self.ties == "first"):
            raise SalgenError(
                f"{self.name}: compat={self.compat} means ties=any and no tolerance; give compat alone, or without it "
                "tolerance and ties"
            )

    ignores_position = by_parameters(True)(lambda metric: not metric.tolerance and metric.ties != "first")

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]; 0 or 1 unless ties are `expected`."""
        if not self.ignores_position:
            hit = _grown(ranking.truth, self.tolerance)[(ranking.saliency == ranking.top) & ranking.region]
            if self.ties == "first":  # in reading order
                return float(hit[0]), ""
            hits, largest = int(np.count_nonzero(hit)), len(hit)
        else:
            cut = ranking.cut(ranking.top)
            hits, largest = cut.positives_tied, cut.positives_tied + cut.negatives_tied
        return float(hits > 0) if self.compat or self.ties == "any" else hits / largest, ""


def _grown(mask: Mask, tolerance: float) -> Mask:
    """The mask and all pixels whose centres are strictly closer than `tolerance` to one of its pixels'."""
    if tolerance <= 1.0:  # pixels beside it are 1 away
        return mask
    from scipy.ndimage import distance_transform_edt

    return np.asarray(distance_transform_edt(~mask) < tolerance)


@dataclass(frozen=True)
class EnergyPointingGame(MaskMetric):
    """Share of the map's positive part that lies in the mask's bounding box, or in the mask.

    sum of max(S, 0) over the box / sum of max(S, 0) over the scored region. One box, edges included, holds all parts of
    the mask. Box pixels outside the scored region do not count. ``within=mask`` is `relevance-mass`, which is never
    larger. ``relative=true`` divides by a constant map's value, so the range has no upper bound.

    Ties: a constant positive map has the box's (or the mask's) share of the region.
    Undefined: ``zero_energy`` when no value is positive.
    Errata: the paper's formula is for maps without signs; of signed maps the positive part counts.
    """

    name = "energy-pointing-game"
    reference = "Wang et al. 2020, Score-CAM, energy-based pointing game, doi:10.1109/CVPRW50498.2020.00020"

    within: str = param("box", "count what lies in the mask's bounding box, or in the mask", choices=("box", "mask"))
    relative: bool = param(False, "divide by the share that a constant map has")

    ignores_position = by_parameters(False)(lambda metric: metric.within == "mask")
    bounds = by_parameters(MaskMetric.bounds)(lambda m: (0.0, math.inf) if m.relative else MaskMetric.bounds)

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1], or [0, region / area] where relative."""
        area = ranking if self.within == "mask" else ranking.boxed
        value, reason = RelevanceMass()(area)
        return (value * (area.p + area.n) / area.p if self.relative else value), reason
