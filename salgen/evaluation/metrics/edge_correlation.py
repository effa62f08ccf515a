"""The similarity of a map to the image's edges."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from salgen.evaluation.metrics.inputs.map_similarity import pearson, ranks
from salgen.evaluation.metrics.inputs.metric import CONSTANT_MAP, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.types import Float32, Float64

NAMES = ("edge-correlation",)

ROUNDING = 1e-6


@dataclass(frozen=True)
class EdgeCorrelation(MaskMetric):
    """Spearman's correlation of a map with the strength of the image's edges: is it an edge detector?

    Edges are the map of the control `sobel`. Below a millionth of the image's largest absolute value they are rounding
    and count as 0. Both maps are ranked within the scored region. A diagnostic: edges may be where the evidence is.

    Ties: tied pixels share their mean rank.
    Undefined: ``constant_map`` where the map or the edges have one value in the whole region.
    """

    name: ClassVar[str] = "edge-correlation"
    family: ClassVar[str] = "diagnostic"
    needs: ClassVar[frozenset[str]] = frozenset({"image"})
    higher_is_better: ClassVar[bool | None] = None
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    ignores_position: ClassVar[bool] = False
    reference: ClassVar[str] = (
        "Adebayo et al. 2018, Sanity checks for saliency maps, on edge detectors, doi:10.48550/arXiv.1810.03292"
    )

    def __call__(self, ranking: Ranking, image: Float32, **_: Any) -> tuple[float, str]:
        """In [-1, 1]."""
        value = pearson(ranks(ranking.saliency[ranking.region]), ranks(edges(image)[ranking.region]))
        return value, CONSTANT_MAP if math.isnan(value) else ""


def edges(image: Float32) -> Float64:
    """The edges of an image (C, H, W) by the control ``sobel``, float64 (H, W); exactly 0 where the image is flat."""
    from salgen.evaluation.attribution.explaining import explain

    strength: Float64 = explain(None, image[None], method="sobel").values[0].double().cpu().numpy()
    return np.where(strength > ROUNDING * np.abs(image).max(), strength, 0.0)
