"""ROAD: pixels are taken out by values that their neighbours suggest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
import numpy as np
from salgen.evaluation.metrics.inputs.metric import Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.parameters import param
from salgen.types import Float64, Mask

if TYPE_CHECKING:
    from torch import Tensor

SHARES = tuple(share / 10 for share in range(1, 10))
BESIDE, DIAGONAL = 1 / 6, 1 / 12  # weights of a pixel's neighbours
NOISE = 0.01  # standard deviation, after normalisation


@dataclass(frozen=True)
class Road(ModelMetric):
    """How much more of the class's probability is left without the smallest pixels than without the largest.

    Half the difference, averaged over removing 10, 20, ... 90 % of the pixels. What is removed is imputed: each missing
    pixel is the weighted mean of its eight neighbours, 1/6 beside and 1/12 across, all at once. Normal noise of 0.01
    is added after normalisation. At a border the weights are scaled up. For each image it costs 18 passes and as many
    sparse linear systems, which take most of the time.

    Ties: as in `insertion-auc`.
    Undefined: never.
    """

    name = "road"
    in_all = False
    bounds = (-0.5, 0.5)
    reference = (
        "Rong et al. 2022, A consistent and efficient evaluation strategy for attribution methods, "
        "doi:10.48550/arXiv.2202.00449; combined as in pytorch-grad-cam"
    )

    shares: tuple[float, ...] = param(SHARES, "shares of the pixels that are removed", low=0.0, high=1.0)

    def measure(self, data: MetricInputs) -> Measured:
        """In [-0.5, 0.5]."""
        import torch
        from scipy.stats import rankdata
        from salgen.evaluation.metrics.inputs.changed_images import probabilities_of, ranks_at

        images = data.predictor.inputs
        ranks = ranks_at(data, images.shape[2:]).cpu().numpy()
        size, streams = ranks[0].size, data.streams(self.name)
        noise = np.stack([stream.normal(images[0].numel()) for stream in streams]).reshape(images.shape)
        counts = [round(share * size) for share in self.shares]
        every = len(counts) * 2
        owners = torch.arange(len(data) * every, device=images.device) // every

        def inputs(part: slice) -> Tensor:
            changed = []
            for number in range(part.start, part.stop):
                image, (place, largest) = number // every, divmod(number % every, 2)
                # of the nearest pixels of a map some ranks may be missing or stand twice
                order = rankdata(ranks[image], method="ordinal").reshape(ranks[image].shape) - 1
                missing = order < counts[place] if largest else order >= size - counts[place]
                pixels = images[image].double().cpu().numpy()
                changed.append(np.where(missing, imputed(pixels, missing) + NOISE * noise[image], pixels))
            return torch.from_numpy(np.stack(changed)).to(images)

        values = probabilities_of(data, owners, inputs).reshape(len(data), len(counts), 2)
        return (values[:, :, 0] - values[:, :, 1]).mean(axis=1) / 2, [""] * len(data)


@lru_cache
def _neighbours(height: int, width: int) -> Any:
    """The weights of each pixel's eight neighbours, a sparse matrix of pixels by pixels."""
    from scipy.sparse import diags_array, eye_array, kron

    down, across = (diags_array(np.ones((2, side)), offsets=(-1, 1), shape=(side, side)) for side in (height, width))
    beside = kron(down, eye_array(width)) + kron(eye_array(height), across)
    return (BESIDE * beside + DIAGONAL * kron(down, across)).tocsr()


def imputed(image: Float64, missing: Mask) -> Float64:
    """An image (C, h, w) whose missing pixels, bool (h, w), are the weighted means of their neighbours.

    Without any pixel that is left, all become 0.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import spsolve

    if not missing.any() or missing.all():
        return np.where(missing, 0.0, image)
    gone, filled = missing.ravel(), image.reshape(len(image), -1).T.copy()
    weights = _neighbours(*missing.shape)[gone]
    system = diags_array(weights.sum(axis=1)) - weights[:, gone]
    filled[gone] = spsolve(system.tocsc(), weights[:, ~gone] @ filled[~gone]).reshape(-1, len(image))
    return np.asarray(filled.T.reshape(image.shape))
