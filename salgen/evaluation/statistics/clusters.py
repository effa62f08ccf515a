"""Clusters of samples, which were drawn independently: their numbers, sums and resamples."""

from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.types import Float64

LEAST = 6  # clusters: with fewer no sign-flip test can be significant at 5 %, and there is no verdict


def numbered(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64 (N,): the clusters' numbers without gaps, from 0 on."""
    return np.asarray(np.unique(clusters, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def cluster_sums(values: NDArray[Any], clusters: NDArray[np.int64]) -> Float64:
    """float64 (G, ...): sums over the samples (N, ...) of each cluster, numbered without gaps."""
    sums = np.zeros((clusters.max(initial=-1) + 1, *values.shape[1:]))
    np.add.at(sums, clusters, values)
    return sums


def multiplicities(drawn: NDArray[np.int64], count: int) -> Float64:
    """float64 (R, count): how often each of `count` things was drawn in each row of numbers (R, n)."""
    places = drawn + count * np.arange(len(drawn))[:, np.newaxis]
    return np.bincount(places.ravel(), minlength=len(drawn) * count).reshape(-1, count).astype(np.float64)
