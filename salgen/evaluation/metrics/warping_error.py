"""The warping error: faults of a map's segmentation other than the position of its boundary."""

import heapq
from dataclasses import dataclass
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from salgen.evaluation.metrics.inputs.boxes import above_mean
from salgen.evaluation.metrics.inputs.metric import MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.parameters import param
from salgen.types import Mask

# Steps (row, column) around a pixel, in a circle from the east.
AROUND = ((0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1))
BITS = np.array([[8, 4, 2], [16, 0, 1], [32, 64, 128]])  # one for each of `AROUND`, where it lies


@dataclass(frozen=True)
class WarpingErrorMetric(MaskMetric):
    """Share of pixels at which the map's segmentation differs from the mask after all flips that keep its topology.

    #{L != T} / #region. L starts as all components of the pixels with S >= mean(S) in the scored region; T is the mask.
    Simple points where L != T are flipped in L until there is none. Such a flip keeps the components of L (8-connected)
    and of its background (4-connected). All outside the region is background. What stays wrong is missing, spurious,
    merged, split or pierced. With ``warp=reference`` the mask is warped towards the segmentation, as Jain et al. do.

    Ties: pixels equal to the mean are in L. The wrong simple point farthest from the goal's boundary is flipped next,
    at equal distance the first in raster order. The goal is T, or L under ``warp=reference``. The paper's minimum over
    all orders is so reached only locally; nearest first ends higher. A constant map selects all of the region.
    Undefined: never.
    Errata: the paper counts pixels: this value times their number.
    """

    name = "warping-error"
    higher_is_better = False
    ignores_position = False
    reference = (
        "Jain et al. 2010, Boundary learning by optimization with topological constraints, "
        "doi:10.1109/CVPR.2010.5539950; Aabid & Sicre, Foreground segmentation to measure deep neural networks "
        "interpretability, WE"
    )

    warp: str = param("prediction", "which is warped towards the other", choices=("prediction", "reference"))

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]."""
        segmentation, truth = above_mean(ranking.saliency, ranking.region), ranking.truth
        start, goal = (segmentation, truth) if self.warp == "prediction" else (truth, segmentation)
        wrong = warped(start, goal) != goal
        return int(np.count_nonzero(wrong)) / int(np.count_nonzero(ranking.region)), ""


def simple_points() -> NDArray[np.bool_]:
    """True where flipping the centre keeps the topology, bool (256,) by its neighbours, one bit for each of `AROUND`.

    It is kept where exactly one background component (4-connected) touches the centre by an edge: the number of
    edge neighbours in the background that the next two steps around the circle do not join to another one is 1.
    """
    bits = (np.arange(256)[:, np.newaxis] >> np.arange(8)) & 1
    background = 1 - bits
    edges, corners, following = background[:, 0::2], background[:, 1::2], np.roll(background[:, 0::2], -1, axis=1)
    return np.asarray((edges - edges * corners * following).sum(axis=1) == 1)


SIMPLE = simple_points().tolist()


def distance_to_boundary(truth: Mask) -> NDArray[np.float64]:
    """The distance of each pixel's centre to the nearest one on the other side of a mask's boundary, float64 (H, W).

    The mask has at least one pixel; all outside the image is background.
    """
    padded = np.pad(truth, 1)
    inside, outside = (ndimage.distance_transform_edt(side) for side in (padded, ~padded))
    return np.asarray((inside + outside)[1:-1, 1:-1])


def warped(start: Mask, goal: Mask) -> Mask:
    """`start` after flipping simple points where it differs from `goal`, farthest from its boundary first; bool (H, W).

    `goal` has at least one pixel. The result differs from it at no simple point.
    """
    padded, width = np.pad(start, 1), start.shape[1] + 2
    wrong = np.pad(start != goal, 1).ravel().tolist()
    order = np.pad(-distance_to_boundary(goal), 1).ravel().tolist()
    around = [row * width + column for row, column in AROUND]
    codes = ndimage.correlate(padded.astype(np.int64), BITS, mode="constant").ravel().tolist()
    queue = [(order[place], place) for place, is_wrong in enumerate(wrong) if is_wrong and SIMPLE[codes[place]]]
    heapq.heapify(queue)
    while queue:
        _, place = heapq.heappop(queue)
        if not (wrong[place] and SIMPLE[codes[place]]):
            continue  # flipped already, or no simple point any more: a flip beside it puts it back
        wrong[place] = False
        for bit, step in enumerate(around):
            neighbour = place + step
            codes[neighbour] ^= 1 << (bit + 4) % 8  # seen from there, the place lies opposite
            if wrong[neighbour] and SIMPLE[codes[neighbour]]:
                heapq.heappush(queue, (order[neighbour], neighbour))
    still_wrong: Mask = np.array(wrong).reshape(padded.shape)[1:-1, 1:-1]
    return goal ^ still_wrong
