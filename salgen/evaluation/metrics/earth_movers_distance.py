"""How far a map's relevance has to be moved until it lies evenly in the mask."""

import math
from dataclasses import dataclass
import numpy as np
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.parameters import param
from salgen.types import Float64

SMALLEST = 1e-12  # share of the mass that rounding leaves


@dataclass(frozen=True)
class EarthMoversDistance(MaskMetric):
    """Least mean distance by which a map's positive part has to move to lie evenly in the mask, over the diagonal.

    The minimum over plans F of sum F_ij d_ij, where F moves max(S, 0) / sum max(S, 0) to the mask's indicator / p, both
    within the scored region. d is the Euclidean distance. Both are first summed over `cells` cells along each axis,
    and d is that of cells' centres; an axis of fewer pixels keeps them. Cells and diagonal are of the box
    around the region; the diagonal joins the centres of its corner pixels. The plan is exact, by a linear program.

    Ties: count alike. A constant positive map has the distance of an even spread.
    Undefined: ``zero_energy`` when no value is positive.
    """

    name = "earth-movers-distance"
    higher_is_better = False
    ignores_position = False
    in_all = False
    reference = (
        "Rubner et al. 2000, The earth mover's distance as a metric for image retrieval, doi:10.1023/A:1026543900054; "
        "Bylinskii et al. 2019, What do different evaluation metrics tell us about saliency models?, "
        "doi:10.1109/TPAMI.2018.2815601"
    )

    cells: int = param(12, "cells along each axis over which map and mask are summed", low=2)

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        box = np.ix_(*(np.arange(side.min(), side.max() + 1) for side in ranking.region.nonzero()))
        values = np.maximum(ranking.saliency[box].astype(np.float64), 0.0)
        positive = np.where(ranking.region[box], values, 0.0)
        top = positive.max()
        if not top > 0:
            return math.nan, ZERO_ENERGY
        shape = positive.shape
        counts = [min(side, self.cells) for side in shape]  # cells along each axis
        pools = [  # (cells, side): 1 where a pixel lies in the cell
            (np.arange(side) * count // side == np.arange(count)[:, None]).astype(np.float64)
            for side, count in zip(shape, counts, strict=True)
        ]
        found, wanted = (
            pools[0] @ values @ pools[1].T for values in (positive / top, ranking.truth[box].astype(np.float64))
        )
        centres = [pool @ np.arange(side) / pool.sum(axis=1) for pool, side in zip(pools, shape, strict=True)]
        places = np.stack(np.meshgrid(*centres, indexing="ij"), axis=-1).reshape(-1, 2)
        difference = (found / found.sum() - wanted / wanted.sum()).ravel()
        diagonal = math.hypot(shape[0] - 1, shape[1] - 1)
        return min(1.0, _moved(difference, places) / diagonal) if diagonal else 0.0, ""


def _moved(difference: Float64, places: Float64) -> float:
    """The least total distance of moving all surplus to what lacks: mass that both have stays where it is."""
    from scipy.stats import wasserstein_distance_nd

    more, less = difference > SMALLEST, difference < -SMALLEST
    if not (more.any() and less.any()):
        return 0.0
    mean = wasserstein_distance_nd(places[more], places[less], difference[more], -difference[less])
    return float(mean * difference[more].sum())
