"""What a map is like, whatever the mask: how few pixels hold it, and how much it shows the image's edges."""

import math
from dataclasses import dataclass
from typing import Any
import numpy as np
from salgen.evaluation.metrics.inputs.map_similarity import pearson, ranks
from salgen.evaluation.metrics.inputs.metric import CONSTANT_MAP, ZERO_ENERGY, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.types import Float32, Float64


@dataclass(frozen=True)
class Concentration(MaskMetric):
    """A number of the positive values within the scored region, whatever the mask."""

    family = "diagnostic"
    needs = frozenset()
    higher_is_better = None
    in_all = False

    def __call__(self, ranking: Ranking, **_: Any) -> tuple[float, str]:
        """The value, and a reason where it is undefined."""
        values = np.sort(np.maximum(ranking.saliency[ranking.region].astype(np.float64), 0.0))
        if not values[-1] > 0:
            return math.nan, ZERO_ENERGY
        values /= values[-1]  # so that no sum overflows
        return self._of(values / values.sum()), ""

    def _of(self, shares: Any) -> float:
        """The number, by rising shares (m,) that sum to 1."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sparseness(Concentration):
    """The Gini index of the map: near 1 if few pixels hold it, 0 if all hold the same.

    sum over k of (2 k - m - 1) v_k / (m sum v). The m values v are those of max(S, 0) in the region, from the smallest
    on.
    A diagnostic: a sparse map may be wrong. The paper takes absolute values, which is the same for maps that have no
    negative ones.

    Ties: count alike in any order.
    Undefined: ``zero_energy`` when no value is positive.
    """

    name = "sparseness"
    reference = (
        "Chalasani et al. 2020, Concise explanations of neural networks using adversarial training, "
        "doi:10.48550/arXiv.1810.06583"
    )

    def _of(self, shares: Any) -> float:
        count = len(shares)
        return float(np.clip((2 * np.arange(1, count + 1) - count - 1) @ shares / count, 0.0, 1.0))


@dataclass(frozen=True)
class Complexity(Concentration):
    """The entropy of the map in nats: 0 if one pixel holds it, the logarithm of their number if all hold the same.

    -sum over i of p_i log p_i, with p = max(S, 0) / sum max(S, 0) in the region. A diagnostic: a simple map may be
    wrong. The paper takes absolute values, which is the same for maps that have no negative ones.

    Ties: count alike in any order.
    Undefined: ``zero_energy`` when no value is positive.
    """

    name = "complexity"
    bounds = (0.0, np.inf)
    reference = (
        "Bhatt et al. 2020, Evaluating and aggregating feature-based model explanations, doi:10.48550/arXiv.2005.00631"
    )

    def _of(self, shares: Any) -> float:
        present = shares[shares > 0]
        return float(max(-(present * np.log(present)).sum(), 0.0))


ROUNDING = 1e-6


@dataclass(frozen=True)
class EdgeCorrelation(MaskMetric):
    """Spearman's correlation of a map with the strength of the image's edges: is it an edge detector?

    Edges are the map of the control `sobel`. Below a millionth of the image's largest absolute value they are rounding
    and count as 0. Both maps are ranked within the scored region. A diagnostic: edges may be where the evidence is.

    Ties: tied pixels share their mean rank.
    Undefined: ``constant_map`` where the map or the edges have one value in the whole region.
    """

    name = "edge-correlation"
    family = "diagnostic"
    needs = frozenset({"image"})
    higher_is_better = None
    bounds = (-1.0, 1.0)
    ignores_position = False
    reference = "Adebayo et al. 2018, Sanity checks for saliency maps, on edge detectors, doi:10.48550/arXiv.1810.03292"

    def __call__(self, ranking: Ranking, image: Float32, **_: Any) -> tuple[float, str]:
        """In [-1, 1]."""
        value = pearson(ranks(ranking.saliency[ranking.region]), ranks(edges(image)[ranking.region]))
        return value, CONSTANT_MAP if math.isnan(value) else ""


def edges(image: Float32) -> Float64:
    """The edges of an image (C, H, W) by the control ``sobel``, float64 (H, W); exactly 0 where the image is flat."""
    from salgen.evaluation.attribution.explaining import explain

    strength: Float64 = explain(None, image[None], method="sobel").values[0].double().cpu().numpy()
    return np.where(strength > ROUNDING * np.abs(image).max(), strength, 0.0)
