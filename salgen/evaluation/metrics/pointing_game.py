"""The pointing game."""

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import MaskStatistics, Ranking
from salgen.parameters import by_parameters, param
from salgen.types import Mask

NAMES = ("pointing-game",)


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

    name: ClassVar[str] = "pointing-game"
    reference: ClassVar[str] = (
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

    @by_parameters(MaskMetric.ignores_position)
    def ignores_position(self) -> bool:
        """Whether only the mask's size matters."""
        return not self.tolerance and self.ties != "first"

    @by_parameters(MaskMetric.reads_pixels)
    def reads_pixels(self) -> bool:
        """Whether it matters where the largest pixels are."""
        return not self.ignores_position

    def __call__(self, ranking: MaskStatistics) -> tuple[float, str]:
        """In [0, 1]; 0 or 1 unless ties are `expected`."""
        if self.reads_pixels:
            assert isinstance(ranking, Ranking)
            hit = _grown(ranking.truth, self.tolerance)[(ranking.saliency == ranking.top) & ranking.region]
            if self.ties == "first":  # in reading order
                return float(hit[0]), ""
            hits, largest = int(np.count_nonzero(hit)), len(hit)
        else:
            cut = ranking.cut_at_top
            hits, largest = cut.positives_tied, cut.positives_tied + cut.negatives_tied
        return float(hits > 0) if self.compat or self.ties == "any" else hits / largest, ""


def _grown(mask: Mask, tolerance: float) -> Mask:
    """The mask and all pixels whose centres are strictly closer than `tolerance` to one of its pixels'."""
    if tolerance <= 1.0:  # pixels beside it are 1 away
        return mask
    from scipy.ndimage import distance_transform_edt

    near: Mask = distance_transform_edt(~mask) < tolerance
    return near
