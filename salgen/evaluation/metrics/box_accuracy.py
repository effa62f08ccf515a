"""The share of samples that a map localises, at the threshold that suits all maps best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.evaluation.metrics.inputs.boxes import NOTHING, Box, box_overlap, largest_component, mask_overlap, tight_box
from salgen.evaluation.metrics.inputs.metric import DatasetMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.parameters import param
from salgen.types import Float64, Mask

THRESHOLDS = np.arange(100) / 100  # thresholds for the map scaled to [0, 1]

Levels = NDArray[np.int8]


@dataclass(frozen=True)
class BoxAccuracy(DatasetMetric):
    """1 if the box around the map's largest component overlaps the mask's box enough, at the best threshold, else 0.

    max over t of the mean over maps of 1[IoU(A(t), B) >= iou], for t = 0, 0.01, ..., 0.99. A(t) is the tight box of the
    largest 8-connected component of the pixels that are at least t. The map is scaled to [0, 1] over the scored region.
    B is the tight box of the whole mask. One t serves all maps of a method, also where a subset is looked at. The mean
    of the values is MaxBoxAcc. With ``within=mask`` the component itself is compared with the mask.

    Ties: pixels at the threshold are selected. Of equally large components the first in raster order counts, of equally
    good thresholds the lowest. A constant map selects the region at t = 0 and nothing above.
    Undefined: never.
    Errata: Aabid & Sicre do not say whether each image has its own t; ``threshold=image`` gives it one.
    """

    name = "box-accuracy"
    ignores_position = False
    sweep: ClassVar = {"iou": (0.5, 0.3, 0.7)}
    reference = (
        "Choe et al. 2020, MaxBoxAcc, doi:10.48550/arXiv.2001.07437; Aabid & Sicre, Foreground segmentation to "
        "measure deep neural networks interpretability, BA and mask accuracy"
    )

    iou: float = param(0.5, "overlap that counts as localised", low=0.01, high=1.0)
    within: str = param("box", "what is compared: boxes, or the component and the mask", choices=("box", "mask"))
    threshold: str = param(
        "dataset", "whether one threshold serves all maps, or each has its best", choices=("dataset", "image")
    )

    def partial(self, rankings: Sequence[Ranking]) -> Float64:
        """The intersection over union at each of `THRESHOLDS`, with the acceptable mask that suits it best."""
        best = np.zeros(len(THRESHOLDS))
        truths = [tight_box(ranking.truth) if self.within == "box" else ranking.truth for ranking in rankings]
        levels = levels_of(rankings[0])
        changes = np.bincount(levels.ravel(), minlength=len(THRESHOLDS) + 1)[:-1] > 0
        changes[0] = True
        for place, box, component in components(levels, np.flatnonzero(changes)):
            best[place] = max(self._iou(box, component, truth) for truth in truths)
        last = np.maximum.accumulate(np.where(changes, np.arange(len(best)), 0))
        return np.asarray(best[last])

    def aggregate(self, partial: Float64) -> Float64:
        """1 for the samples that are localised, 0 for the others."""
        hits = partial >= self.iou
        best = hits.any(axis=1) if self.threshold == "image" else hits[:, int(hits.sum(axis=0).argmax())]
        return np.asarray(best, dtype=np.float64)

    def _iou(self, box: Box, component: Mask, truth: Any) -> float:
        """The overlap of one selection, whose component is given within the box around it."""
        if self.within == "box":
            return box_overlap(box, truth).iou
        selected = np.zeros_like(truth)
        selected[box.pixels] = component
        return mask_overlap(selected, truth).iou


def levels_of(ranking: Ranking) -> Levels:
    """Number of `THRESHOLDS` that each pixel reaches, int8 (H, W) in 0..100; 0 outside the region."""
    reached = THRESHOLDS.searchsorted(ranking.scaled, side="right")
    return np.where(ranking.region, reached, 0).astype(np.int8)


def components(levels: Levels, places: NDArray[np.int64]) -> Iterator[tuple[int, Box, Mask]]:
    """For each of some ascending thresholds its index, the largest component's box, and the component within it.

    `levels` is the number of thresholds that each pixel reaches. Each selection lies within the one before, so only the
    box around that one is searched.
    """
    outer = Box(0, levels.shape[0], 0, levels.shape[1])
    for place in places.tolist():
        selected = levels[outer.pixels] > place
        inner = tight_box(selected)
        if inner == NOTHING:
            yield place, NOTHING, selected[:0, :0]
            return
        component = largest_component(selected[inner.pixels])
        outer = inner.within(outer)
        tight = tight_box(component)
        yield place, tight.within(outer), component[tight.pixels]
