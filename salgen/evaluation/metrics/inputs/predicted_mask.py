"""A map made into a predicted mask, and its overlap with the ground truth."""

from dataclasses import dataclass
from typing import ClassVar

from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.boxes import Overlap, above_mean, mask_overlap
from salgen.evaluation.metrics.inputs.mask_statistics import MaskStatistics, hits_of_the_largest
from salgen.evaluation.metrics.inputs.metric import compat_of
from salgen.evaluation.metrics.inputs.metric_bases import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.parameters import by_parameters, param


@dataclass(frozen=True)
class PredictedMask(MaskMetric):
    """A metric of the predicted mask: write ``__call__`` with :meth:`overlap`.

    `raw_threshold` is the threshold on the raw map under `compat=xaibenchmark`.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    raw_threshold: ClassVar[float] = 0.0

    threshold: float = param(0.5, "predicted are the pixels with mm(S) above it; below 1", low=0.0, high=1.0)
    select: str = param(
        "threshold", "`area` predicts as many pixels as the mask has, the largest", choices=("threshold", "area")
    )

    def __post_init__(self) -> None:
        if self.threshold == 1.0:
            raise SalgenError(f"{self.name}: threshold = 1: no value of mm(S) is above 1; give one below")
        changed, compat = self.threshold != type(self).threshold, compat_of(self)
        if self.select == "area" and changed:
            raise SalgenError(f"{self.name}: select=area takes no threshold; give one of the two")
        if compat and (changed or self.select == "area"):
            raise SalgenError(f"{self.name}: compat={compat} has its own threshold; give compat alone")

    @by_parameters(MaskMetric.reads_pixels)
    def reads_pixels(self) -> bool:
        """Whether it needs the map's mean, whose rounding decides about pixels that equal it."""
        return compat_of(self) == "aabid"

    def overlap(self, ranking: MaskStatistics) -> Overlap:
        """The overlap of predicted mask and ground truth in the scored region, in a unit that all counts share."""
        compat = compat_of(self)
        if self.select == "area":
            return _largest_overlap(ranking)
        if compat == "xaibenchmark":
            cut = ranking.cut(self.raw_threshold)
            return Overlap(cut.positives_above, cut.positives_above + cut.negatives_above, ranking.p)
        if compat == "aabid":
            assert isinstance(ranking, Ranking)  # since it reads pixels
            return mask_overlap(above_mean(ranking.saliency, ranking.region), ranking.truth)
        inside, outside = ranking.above_scaled(self.threshold)
        return Overlap(inside, inside + outside, ranking.p)

    def ceiling(self, p: int, n: int) -> float:
        """1, but 0 for a full mask, which as a map is constant: nothing is above a threshold."""
        return 0.0 if n == 0 and self.select == "threshold" and not compat_of(self) else 1.0


def _largest_overlap(ranking: MaskStatistics) -> Overlap:
    """The overlap of the p largest pixels; those tied at the last place count in proportion, in 1 / their number."""
    hits, tied = hits_of_the_largest(ranking)
    return Overlap(hits, ranking.p * tied, ranking.p * tied)
