"""The order in which pixels are changed: the map's largest value first, tied pixels in a random order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from salgen.evaluation.metrics.inputs.device_maps import DeviceMaps
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.seeding import Stream

Ranks = NDArray[np.int32]


def ranks_of(data: MetricInputs) -> Tensor:
    """Each pixel's place in the order, int32 (N, H, W), on the maps' device; the same for all metrics that ask.

    Tied pixels come in an order that the run's seed and the sample's id determine: neither the batch,
    nor the method, nor where in the image the pixels lie.
    """

    def compute() -> Tensor:
        streams = data.streams("order of tied pixels")
        if isinstance(data.saliency, DeviceMaps):
            return ranks_on_device(data.saliency.values, streams)
        return torch.from_numpy(pixel_ranks(data.saliency, streams))

    return data.cached("pixel ranks", compute)


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


def ranks_on_device(maps: Tensor, streams: Sequence[Stream]) -> Tensor:
    """The same ranks of maps float32 or float64 (N, H, W) on any device, sorted there together."""
    negated = -maps.flatten(1) + 0.0  # without a minus zero, which a sort of bits would tell from zero
    order = negated.argsort(dim=1)
    ascending = negated.gather(1, order)
    tied = (ascending[:, 1:] == ascending[:, :-1]).any(dim=1)
    for index in tied.nonzero()[:, 0].tolist():
        shuffled = torch.from_numpy(streams[index].permutation(negated.shape[1])).to(maps.device)
        order[index] = shuffled[negated[index, shuffled].argsort(stable=True)]
    places = torch.arange(negated.shape[1], dtype=torch.int32, device=maps.device).expand(order.shape)
    return torch.empty_like(places.contiguous()).scatter_(1, order, places).view(maps.shape)


def _descending(negated: NDArray[np.floating[Any]], stream: Stream) -> NDArray[np.int64]:
    """The pixels in order; random numbers are drawn only where two pixels are equal."""
    order = negated.argsort()
    ascending = negated[order]
    if (ascending[1:] != ascending[:-1]).all():
        return order
    shuffled = stream.permutation(len(negated))
    order_of_ties: NDArray[np.int64] = shuffled[negated[shuffled].argsort(kind="stable")]
    return order_of_ties
