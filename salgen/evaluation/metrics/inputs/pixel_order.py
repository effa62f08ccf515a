"""The order in which pixels are changed: the map's largest value first, tied pixels in a random order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.seeding import Stream

Ranks = NDArray[np.int32]


def ranks_of(data: MetricInputs) -> Ranks:
    """Each pixel's place in the order, int32 (N, H, W); the same for all metrics that ask.

    Tied pixels come in an order that the run's seed and the sample's id determine: neither the batch,
    nor the method, nor where in the image the pixels lie.
    """
    return data.cached("pixel ranks", lambda: pixel_ranks(data.maps, data.streams("order of tied pixels")))


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
    order_of_ties: NDArray[np.int64] = shuffled[negated[shuffled].argsort(kind="stable")]
    return order_of_ties
