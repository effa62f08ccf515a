"""The order of methods over all data sets of the benchmark, and which of them it can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import rankdata

from salgen.evaluation.statistics.stepdown import stepdown_p_values
from salgen.evaluation.statistics.tolerance import levels
from salgen.seeding import Stream
from salgen.types import Float64

LEVEL = 0.95  # of intervals
ALPHA = 0.05  # of tests
DRAWS = 1000


@dataclass(frozen=True)
class Standing:
    """Methods from best to worst.

    Attributes
    ----------
    methods
        Their calls.
    places
        float64 (M,): the mean place over data sets, from 0 (the best on all of them by every metric) to 1 (the worst).
    low, high
        float64 (M,): the 95 % interval of the mean over data sets like these; NaN for a method on a single one.
    datasets
        int64 (M,): the number of data sets on which the method is defined.
    by_metric, by_dataset
        float64 (M, F) and (M, D): the mean place by each metric, and on each data set; NaN where there is none.
    first, low_rank, high_rank
        float64 (M,): the share of 1,000 draws of data sets and trainings, with replacement, in which the method is the
        best, and the 2.5th and 97.5th percentile of its rank, from 1; NaN for a method that lacks a data set.
    p_values
        float64 (M, M): of the hypothesis that two methods have the same place, corrected for all pairs of methods that
        are defined on all data sets; NaN for others, and where there are fewer than six data sets.
    """

    methods: list[str]
    places: Float64
    low: Float64
    high: Float64
    datasets: NDArray[np.int64]
    by_metric: Float64
    by_dataset: Float64
    first: Float64
    low_rank: Float64
    high_rank: Float64
    p_values: Float64

    @property
    def told_apart(self) -> str:
        """How many pairs of methods the test tells apart, in words."""
        tested = self.p_values[np.triu_indices(len(self.methods), 1)]
        tested = tested[~np.isnan(tested)]
        if not len(tested):
            return "With fewer than six data sets no test can tell methods apart."
        return f"{(tested <= ALPHA).sum()} of {len(tested)} pairs of methods differ at {100 * ALPHA:.0f} %."


def standing(values: Float64, methods: Sequence[str]) -> Standing:
    """The order of methods.

    Parameters
    ----------
    values
        float64 (D, F, T, M): the mean score of M methods on D data sets, by the metric of each of F families, under T
        trainings; higher is better. NaN where a method is not defined, or a data set lacks a family.
    methods
        Their calls.

    Notes
    -----
    A method's place by one metric under one training is (rank - 1) / (methods - 1), ties sharing their mean rank.
    Places are averaged over metrics, then over trainings, then over data sets, each of which counts once. What was
    sampled are data sets: trainings and families of one data set are not independent. So the interval is Student's over
    data sets, and pairs are compared by :func:`~salgen.evaluation.statistics.stepdown.stepdown_p_values` of the places
    on each data set.
    """
    of_each = _places(values)
    by_training = _mean(of_each, axis=1)  # (D, T, M)
    places = _mean(by_training, axis=1)
    defined, means = ~np.isnan(places), _mean(places, axis=0)
    counts = defined.sum(axis=0)
    degrees = np.where(counts > 1, counts - 1.0, np.nan)
    variance = np.nansum((places - means) ** 2, axis=0) / degrees
    half = stdtrit(degrees, (1 + LEVEL) / 2) * np.sqrt(variance / counts)
    order = np.argsort(means, kind="stable")
    best, low_rank, high_rank = _stability(by_training)
    p_values = np.full((len(methods), len(methods)), np.nan)
    everywhere = np.flatnonzero(defined.all(axis=0))
    if len(everywhere) > 1:
        first, second = np.triu_indices(len(everywhere), 1)
        rows, columns = everywhere[first], everywhere[second]
        p_values[rows, columns] = p_values[columns, rows] = stepdown_p_values(places[:, everywhere])
    return Standing(
        methods=[methods[i] for i in order],
        places=means[order],
        low=np.maximum(means - half, 0.0)[order],
        high=np.minimum(means + half, 1.0)[order],
        datasets=counts[order],
        by_metric=_mean(_mean(of_each, axis=2), axis=0).T[order],
        by_dataset=places.T[order],
        first=best[order],
        low_rank=low_rank[order],
        high_rank=high_rank[order],
        p_values=p_values[np.ix_(order, order)],
    )


def _stability(by_training: Float64) -> tuple[Float64, Float64, Float64]:
    """How often each method is the best, and the range of its rank, over draws of data sets and of their trainings."""
    datasets, trainings, methods = by_training.shape
    stream = Stream("salgen-bench", 0, "stability")
    everywhere = np.flatnonzero(~np.isnan(by_training).all(axis=1).any(axis=0))
    found = np.full((3, methods), np.nan)
    if len(everywhere):
        drawn = stream.integers(datasets, DRAWS * datasets).reshape(DRAWS, datasets)
        counts = (~np.isnan(by_training)).any(axis=2).sum(axis=1)  # of the trainings, which are counted from 0
        uniform = stream.uniform(DRAWS * datasets * trainings).reshape(DRAWS, datasets, trainings)
        seeds = (uniform * counts[drawn][..., None]).astype(np.int64)
        chosen = by_training[drawn[..., None], seeds][..., everywhere]
        ranks = rankdata(_mean(_mean(chosen, axis=2), axis=1), axis=1)
        found[:, everywhere] = (
            (ranks == ranks.min(axis=1, keepdims=True)).mean(axis=0),
            *np.percentile(ranks, [2.5, 97.5], axis=0),
        )
    return found[0], found[1], found[2]


def _mean(values: Float64, axis: int) -> Float64:
    """The mean of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis)
    return np.asarray(np.where(defined, values, 0.0).sum(axis=axis) / np.where(count > 0, count, np.nan))


def _places(values: Float64) -> Float64:
    """Places (D, F, T, M) from scores; NaN where there is no score, or no other method."""
    places = np.full(values.shape, np.nan)
    for index in np.ndindex(values.shape[:3]):
        defined = np.flatnonzero(~np.isnan(values[index]))
        if len(defined) > 1:
            ranks = rankdata(-levels(values[index][None, defined])[0])
            places[(*index, defined)] = (ranks - 1) / (len(defined) - 1)
    return places
