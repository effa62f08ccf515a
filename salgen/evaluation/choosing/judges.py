"""What maps are judged by while a method is chosen: masks, or the network itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import torch
from numpy.typing import NDArray
from salgen.evaluation.choosing.regret import DRAWS, covariance_of, draw_means
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.scoring.scoring import score
from salgen.seeding import Stream
from salgen.types import Float64, SaliencyMap

ROAD = "road"


@dataclass(frozen=True)
class ByMasks:
    """A metric against masks, bool (N, H, W); its covariance over images is that of salgen-bench."""

    metric: str
    masks: NDArray[np.bool_]
    # whether methods of many passes and controls are left out, and no method is given up on the way
    cheap_alone: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)  # least and largest score, the higher the better

    def scores(self, maps: SaliencyMap, cluster: NDArray[np.int64]) -> Float64:
        """The score of each map of the images with these numbers; a map that failed has the metric's worst value."""
        return score(maps, self.masks[cluster], [self.metric]).worst_case[self.metric]

    def draws(self, scores: Mapping[str, Sequence[float]]) -> Float64:
        """Draws (D, M) of the true means of methods, given the means of their first clusters: normal around them."""
        return from_few(self.metric, scores)


@dataclass(frozen=True)
class ByFaithfulness:
    """ROAD, which needs no mask: how much more of its class the network loses with a map's largest pixels.

    Of the stand-ins for masks it chooses best, see docs/which_method.md.
    """

    view: ModelView
    pixels: torch.Tensor
    targets: NDArray[np.int64]
    cheap_alone: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (-0.5, 0.5)
    metric: str = ROAD

    def scores(self, maps: SaliencyMap, cluster: NDArray[np.int64]) -> Float64:
        """By the network's passes of changed images."""
        pixels, targets = self.pixels[cluster], self.targets[cluster]
        return score(maps, None, [ROAD], model=self.view, images=pixels, targets=targets).worst_case[ROAD]

    def draws(self, scores: Mapping[str, Sequence[float]]) -> Float64:
        """Means over clusters that are drawn again (bootstrap)."""
        values = np.array(list(scores.values()))
        count = values.shape[1]
        drawn = Stream("choosing without masks").integers(count, DRAWS * count).reshape(DRAWS, count)
        return np.asarray(values[:, drawn].mean(axis=2).T)


Judge = ByMasks | ByFaithfulness


def from_few(metric: str, scores: Mapping[str, Sequence[float]]) -> Float64:
    """Draws (D, M) of the true means of methods under a metric, given the means of their first clusters."""
    means, counts = (np.array([of(values) for values in scores.values()]) for of in (np.mean, len))
    return draw_means(means, counts, covariance_of(metric, list(scores)))
