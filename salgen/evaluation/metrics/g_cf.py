"""The mean strength of a map on a common feature."""

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from salgen.evaluation.metrics.inputs.metric import MaskMetric, of_param
from salgen.evaluation.metrics.inputs.metric_inputs import PAIRED
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values
from salgen.parameters import by_parameters
from salgen.types import Float64

NAMES = ("g-cf",)

TOP_PERCENTILE = 99


@dataclass(frozen=True)
class GCf(MaskMetric):
    """Mean strength of a map on the mask, S_cf; its mean over rightly classified samples is G_cf.

    S_cf = sum of E over the mask / p, for a mask of p pixels and BAM's map E. E is max(S, 0), clipped at its 99th
    percentile over the scored region (linear interpolation). It is then scaled to [0, 1] by its smallest and largest
    value there. A diagnostic: high is right for a model that needs the feature, low for one that does not. BAM sums the
    positive parts of the channels: ``reduce=sum_pos``.

    Undefined: never. A map that is constant after clipping has 0, as has one with fewer than about 1 % positive pixels.
    """

    name: ClassVar[str] = "g-cf"
    family: ClassVar[str] = "contrast"
    only_correct: ClassVar[bool] = True
    higher_is_better: ClassVar[bool | None] = None
    reference: ClassVar[str] = (
        "Yang & Kim 2019, Benchmarking attribution methods, doi:10.48550/arXiv.1907.09701; Li et al. 2020, eq. 11, "
        "doi:10.48550/arXiv.2012.15616"
    )

    of: str = of_param()

    @by_parameters(MaskMetric.needs)
    def needs(self) -> frozenset[str]:
        """With ``of=paired`` the second model's maps."""
        return frozenset({"mask", "paired_maps"}) if self.of == PAIRED else MaskMetric.needs

    def __call__(self, ranking: Ranking, paired_map: Values | None = None) -> tuple[float, str]:
        """In [0, 1]."""
        return mean_in_mask(ranking if paired_map is None else beside(ranking, paired_map)), ""


def beside(ranking: Ranking, second_map: Values) -> Ranking:
    """A second map under the same mask, in the same region."""
    return Ranking(second_map, ranking.mask, ranking.valid)


def mean_in_mask(ranking: Ranking) -> float:
    """S_cf, in [0, 1]."""
    return float(bam_map(ranking)[ranking.truth].mean())


def bam_map(ranking: Ranking) -> Float64:
    """E: the positive part without its top percent, float64 (H, W) in [0, 1] over the scored region; 0 outside it."""
    values = np.maximum(ranking.saliency[ranking.region].astype(np.float64), 0.0)
    low, high = float(values.min()), float(np.percentile(values, TOP_PERCENTILE))
    result = np.zeros(ranking.saliency.shape)
    if high > low:
        result[ranking.region] = (np.minimum(values, high) - low) / (high - low)
    return result
