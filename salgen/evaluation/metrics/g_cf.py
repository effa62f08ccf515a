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

    S_cf = sum of E over the mask / p, where E is BAM's map: max(S, 0), clipped at its 99th percentile
    over the scored region (interpolated linearly) and mapped linearly from its smallest and largest value there to
    [0, 1]. High is right for a model that needs the feature, low for one that does not: a diagnostic, whose
    difference between two models is ``mcs``.

    BAM sums the positive parts of the channels; a map of several channels is that under ``reduce=sum_pos``.

    With ``of=paired`` it is G_cf of the second model's map of the same image, so that one table has both.

    Ties: no ranking is involved.
    Undefined: never, where the mask is not empty. A map that is constant after clipping has E = 0 and the
    value 0; so has one that is positive on fewer than about 1 % of the pixels.
    """

    name: ClassVar[str] = "g-cf"
    family: ClassVar[str] = "contrast"
    only_correct: ClassVar[bool] = True
    higher_is_better: ClassVar[bool | None] = None
    reference: ClassVar[str] = "Yang & Kim 2019, Benchmarking attribution methods; Li et al. 2020, eq. 11"

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
