"""The explained class's probability on images that are changed in the order of a map."""

from collections.abc import Callable, Sequence
from typing import Any
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.evaluation.models.inspection.model_view import score_gradient
from salgen.seeding import Stream
from salgen.types import Float64

Ranks = NDArray[np.int32]
Indices = NDArray[np.int64]

LARGE, STEPS = 224, 50  # from so many rows on, a step for each row would cost more than it tells


def ranks_of(data: MetricInputs) -> Tensor:
    """Each pixel's place in the order, int32 (N, H, W); the same for all metrics that ask.

    Tied pixels come in an order that the run's seed and the sample's id determine: neither the batch,
    nor the method, nor where in the image the pixels lie.
    """
    return data.cached(
        "pixel ranks", lambda: torch.from_numpy(pixel_ranks(data.maps, data.streams("order of tied pixels")))
    )


def pixel_ranks(maps: Values, streams: Sequence[Stream]) -> Ranks:
    """Ranks int32 (N, H, W) from 0 for the largest value; each stream orders the tied pixels of one map.

    Examples
    --------
    >>> pixel_ranks(np.array([[[0.1, 0.9], [0.5, -2.0]]]), [Stream(0, "example")]).tolist()
    [[[2, 0], [1, 3]]]
    """
    ranks = np.empty((len(maps), maps[0].size), dtype=np.int32)
    places = np.arange(maps[0].size, dtype=np.int32)
    for rank, saliency, stream in zip(ranks, maps, streams, strict=True):
        rank[_descending(-saliency.ravel(), stream)] = places
    return ranks.reshape(maps.shape)


def _descending(negated: NDArray[np.floating[Any]], stream: Stream) -> NDArray[np.int64]:
    """The pixels in order; random numbers are drawn only where two pixels are equal."""
    order = negated.argsort()
    ascending = negated[order]
    if (ascending[1:] != ascending[:-1]).all():
        return order
    shuffled = stream.permutation(len(negated))
    return np.asarray(shuffled[negated[shuffled].argsort(kind="stable")])


def original_probabilities(data: MetricInputs) -> Float64:
    """The explained class's probability on the images themselves, float64 (N,)."""
    return data.cached(
        "original probabilities", lambda: _of_targets(data.predictor.original, _targets(data)).cpu().numpy()
    )


def probabilities_of(data: MetricInputs, owners: Tensor, inputs: Callable[[slice], Tensor]) -> Float64:
    """The explained class's probability on m changed images, float64 (m,), made and run a part at a time.

    `owners`, int64 (m,), is the sample that each changed image was made from. `inputs` makes the normalised inputs (k,
    C, h, w) of a part of ``range(m)``.
    """
    predictor, targets = data.predictor, _targets(data)[owners]

    def value(logits: Tensor, part: slice) -> Tensor:
        return _of_targets(predictor.view.probabilities(logits.double()), targets[part])

    return np.asarray(predictor.batches.values(predictor.view, len(owners), inputs, value).cpu().numpy())


def stepwise_probabilities(
    data: MetricInputs, before: Tensor, after: Tensor, step: int | None, samples: Indices, steps: Indices
) -> Float64:
    """The probability as pixels change from `before` to `after`, normalised (N, C, h, w): float64 (m,).

    The i-th value is of sample ``samples[i]``, in which the first ``steps[i] * step`` pixels in the map's order have
    changed.
    """
    per_step, device = pixels_per_step(data.maps.shape[1:], step), before.device
    ranks = ranks_at(data, before.shape[2:]).to(device)
    owners, changed = torch.tensor(samples, device=device), torch.tensor(steps * per_step, device=device).int()

    def inputs(part: slice) -> Tensor:
        first, last = samples[part.start], samples[part.stop - 1]
        # A single image is not copied for each of its steps.
        rows = slice(first, first + 1) if first == last else owners[part]
        is_changed = ranks[rows] < changed[part, None, None]
        return torch.where(is_changed[:, None], after[rows], before[rows])

    return probabilities_of(data, owners, inputs)


def pixels_per_step(size: tuple[int, ...], step: int | None) -> int:
    """Pixels that change in each step of images (H, W): by default a row, from `LARGE` rows on the `STEPS`-th part."""
    height, width = size
    return min(step or (width if height < LARGE else -(-height * width // STEPS)), height * width)


def _targets(data: MetricInputs) -> Tensor:
    return torch.tensor(data.targets, device=data.predictor.pixels.device)


def _of_targets(probabilities: Tensor, targets: Tensor) -> Tensor:
    """Probabilities (m, K) of the targets, (m,); raises a SalgenError if one is no class of the model."""
    return (probabilities * score_gradient(probabilities, targets, "logit")).sum(dim=1)


def ranks_at(data: MetricInputs, size: tuple[int, ...]) -> Tensor:
    """The ranks of the nearest pixels at another size, int32 (N, h, w)."""
    ranks = ranks_of(data)
    rows, columns = (
        (2 * torch.arange(count) + 1) * side // (2 * count) for side, count in zip(ranks.shape[1:], size, strict=True)
    )
    return ranks if tuple(ranks.shape[1:]) == size else ranks[:, rows[:, None], columns]
