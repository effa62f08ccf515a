"""Reference images, whose pixels replace those taken away, normalised as the network takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs

if TYPE_CHECKING:
    from torch import Tensor

REFERENCES = ("blur", "black", "mean", "zero", "twin")
BLUR_SIDE, BLUR_SIGMA = 11, 5.0


def reference_images(data: MetricInputs, kind: str) -> Tensor:
    """One of `REFERENCES` for each image, normalised (N, C, h, w).

    - ``blur``: the normalised image under a Gaussian of 11x11 pixels, sigma 5, reflected at the borders.
    - ``black``: black mapped through the normalisation.
    - ``mean``: the normalised image's mean in each channel.
    - ``zero``: zero after the normalisation.
    - ``twin``: the image without the feature, which every sample must have.
    """
    inputs = data.predictor.inputs
    if kind == "blur":
        return data.cached("blurred images", lambda: blurred(inputs))
    if kind == "twin":
        return data.cached("normalised twins", lambda: _twins(data))
    if kind == "black":
        return data.predictor.black.expand_as(inputs)
    if kind == "mean":
        return inputs.mean(dim=(2, 3), keepdim=True).expand_as(inputs)
    return inputs.new_zeros(1).expand_as(inputs)


def blurred(images: Tensor) -> Tensor:
    """Images (N, C, h, w) under the Gaussian: a product with one matrix along each axis."""
    import torch

    down, across = (torch.from_numpy(_blur_matrix(length)).to(images) for length in images.shape[2:])
    return down @ images @ across.mT


def _blur_matrix(length: int) -> np.ndarray:
    """Each pixel's weights (length, length): the Gaussian's, with pixels beyond a border mirrored in the last one."""
    reach = BLUR_SIDE // 2
    offsets = np.arange(-reach, reach + 1)
    weights = np.exp(-(offsets**2) / (2 * BLUR_SIGMA**2))
    sources = np.pad(np.arange(length), reach, mode="reflect")
    matrix = np.zeros((length, length))
    for offset, weight in zip(offsets + reach, weights / weights.sum(), strict=True):
        np.add.at(matrix, (np.arange(length), sources[offset : offset + length]), weight)
    return matrix


def _twins(data: MetricInputs) -> Tensor:
    import torch

    assert data.twins is not None  # the metric's `needs` names it
    stacked = np.stack([twin for twin in data.twins if twin is not None])
    return data.predictor.normalised(data.predictor.view.like(torch.from_numpy(stacked)))
