"""The explained class's probability on images that are changed in the order of a map."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.pixel_order import ranks_of
from salgen.evaluation.models.inspection.model_view import score_gradient
from salgen.types import Float64


def original_probabilities(data: MetricInputs) -> Float64:
    """The explained class's probability on the images themselves, float64 (N,)."""
    return data.cached("original probabilities", lambda: _select_targets(data.predictor.original, _targets(data)))


def probabilities_of(data: MetricInputs, owners: Tensor, inputs: Callable[[slice], Tensor]) -> Float64:
    """The explained class's probability on many changed images, made and run a part at a time.

    Parameters
    ----------
    owners
        int64 (m,): the sample that each changed image was made from.
    inputs
        Makes the normalised inputs (k, C, h, w) of a part of ``range(m)``.

    Returns
    -------
    Float64
        (m,). The probabilities of all classes are kept for one part at a time.
    """
    probe, targets = data.predictor, _targets(data)
    values = np.empty(len(owners))
    start = 0
    while start < len(owners):
        block = slice(start, min(start + probe.batches.size, len(owners)))
        probabilities = probe.probabilities(block.stop - start, _shifted(inputs, start))
        values[block] = _select_targets(probabilities, targets[owners[block]])
        start = block.stop
    return values


def stepwise_probabilities(
    data: MetricInputs, before: Tensor, after: Tensor, step: int | None, steps: range | None = None
) -> Float64:
    """The probability as pixels change from `before` to `after`, float64 (N, number of steps).

    Parameters
    ----------
    before, after
        Normalised (N, C, h, w). Where the normalisation resizes, a pixel of the network's input changes
        with the nearest pixel of the image.
    step
        Pixels per step, in the order of the map; a row's worth (W) by default.
    steps
        Numbers of the steps: after the k-th, the first ``k * step`` pixels have changed. All by default, from 0.
    """
    numbers = range(step_count(data, step) + 1) if steps is None else steps
    per_step, count = _pixels_per_step(data, step), len(numbers)
    device = before.device
    ranks = _resize_nearest(ranks_of(data), (before.shape[2], before.shape[3])).to(device)
    items = torch.arange(len(data) * count, device=device)
    owners, changed = items // count, ((items % count + numbers.start) * per_step).int()

    def inputs(part: slice) -> Tensor:
        first, last = part.start // count, (part.stop - 1) // count
        # A single image is not copied for each of its steps.
        rows = slice(first, first + 1) if first == last else owners[part]
        is_changed = ranks[rows] < changed[part, None, None]
        return torch.where(is_changed[:, None], after[rows], before[rows])

    return probabilities_of(data, owners, inputs).reshape(len(data), count)


def step_count(data: MetricInputs, step: int | None) -> int:
    """Number of steps that change all pixels; the last may change fewer than the rest."""
    pixels = math.prod(data.saliency.shape[1:])
    return -(-pixels // _pixels_per_step(data, step))


def _pixels_per_step(data: MetricInputs, step: int | None) -> int:
    return min(step or data.saliency.shape[2], math.prod(data.saliency.shape[1:]))


def _targets(data: MetricInputs) -> Tensor:
    return torch.tensor(data.targets, device=data.predictor.pixels.device)


def _select_targets(probabilities: Tensor, targets: Tensor) -> Float64:
    """Probabilities (m, K) of the targets; raises a SalgenError if one is no class of the model."""
    chosen = (probabilities * score_gradient(probabilities, targets, "logit")).sum(dim=1)
    return chosen.double().cpu().numpy()


def _shifted(inputs: Callable[[slice], Tensor], start: int) -> Callable[[slice], Tensor]:
    """The function `inputs` with its parts counted from `start`."""
    return lambda part: inputs(slice(start + part.start, start + part.stop))


def _resize_nearest(ranks: Tensor, size: tuple[int, int]) -> Tensor:
    """Ranks (N, H, W) of the nearest pixels, (N, h, w)."""
    rows, columns = (
        (2 * torch.arange(count) + 1) * side // (2 * count) for side, count in zip(ranks.shape[1:], size, strict=True)
    )
    return ranks if tuple(ranks.shape[1:]) == size else ranks[:, rows[:, None], columns]
