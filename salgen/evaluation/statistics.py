"""What can be said of a mean: bootstrap intervals, normalised scores, ranks, and a model against chance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, rankdata

from salgen.seeding import Stream
from salgen.types import Float64

RESAMPLES = 2000
LEVEL = 0.95
CROSSED_SEEDS = 5  # fewer training seeds say too little about the spread between trainings
CHANCE_ALPHA = 0.01
_BLOCK = 2_000_000  # resampling weights held at a time


def bootstrap_interval(
    values: Float64,
    *,
    crossed: bool | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
) -> tuple[Float64, Float64]:
    """Percentile bootstrap intervals of the means over training seeds and samples.

    Parameters
    ----------
    values
        float64 (S, N, K): K scores of N samples under S training seeds; NaN where undefined.
    crossed
        Whether seeds are resampled too, independently of the samples (the pigeonhole bootstrap). If
        not, the interval is over samples and conditional on these models. By default where there are
        at least `CROSSED_SEEDS` seeds.
    resamples, level, seed
        Number of resamples, coverage aimed at, and seed of the resampling.

    Returns
    -------
    low, high
        float64 (K,): NaN for a score that is defined for fewer than two samples.

    Notes
    -----
    Samples for which a score is undefined under every seed are left out before resampling. All scores
    share the resamples, and a score's interval does not depend on what else is in the table.

    References
    ----------
    Efron & Tibshirani 1993, *An introduction to the bootstrap*, chapter 13; Owen 2007, *The pigeonhole
    bootstrap*, Annals of Applied Statistics 1(2).
    """
    seeds, _, columns = values.shape
    crossed = seeds >= CROSSED_SEEDS if crossed is None else crossed
    bounds = np.full((2, columns), np.nan)
    used = np.isfinite(values).any(axis=0)
    patterns, pattern_of = np.unique(used, axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        rows, chosen = patterns[:, number], np.flatnonzero(pattern_of.reshape(-1) == number)
        if rows.sum() >= 2:
            means = _resampled_means(values[:, rows][:, :, chosen], crossed, resamples, seed)
            bounds[:, chosen] = np.nanquantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return bounds[0], bounds[1]


def _resampled_means(values: Float64, crossed: bool, resamples: int, seed: int) -> Float64:
    """float64 (resamples, K): means of the defined values, each weighted by how often it was drawn."""
    seeds, samples, columns = values.shape
    defined = np.isfinite(values)
    totals, counts = np.where(defined, values, 0.0), defined.astype(np.float64)
    if not crossed:
        totals, counts, seeds = totals.sum(0, keepdims=True), counts.sum(0, keepdims=True), 1
    totals, counts = (array.transpose(1, 0, 2).reshape(samples, seeds * columns) for array in (totals, counts))
    means = []
    for block in _blocks(resamples, samples):
        sample_weights = _weights(seed, "samples", samples, block)
        seed_weights = _weights(seed, "seeds", seeds, block) if crossed else np.ones((len(block), 1))
        shape = (len(block), seeds, columns)
        drawn = [np.einsum("bs,bsk->bk", seed_weights, (sample_weights @ a).reshape(shape)) for a in (totals, counts)]
        means.append(np.divide(drawn[0], drawn[1], out=np.full_like(drawn[0], np.nan), where=drawn[1] > 0))
    return np.concatenate(means)


def _blocks(resamples: int, samples: int) -> Iterator[range]:
    """The numbers of the resamples, in pieces that bound the memory."""
    size = max(1, _BLOCK // samples)
    for start in range(0, resamples, size):
        yield range(start, min(start + size, resamples))


@lru_cache(maxsize=4)  # every table of a run draws the same
def _weights(seed: int, purpose: str, count: int, block: range) -> Float64:
    """float64 (len(block), count): how often each of `count` things is drawn; a stream per resample."""
    drawn = [Stream(seed, "bootstrap", purpose, index=number).integers(count, count) for number in block]
    weights = np.stack([np.bincount(indices, minlength=count) for indices in drawn]).astype(np.float64)
    weights.flags.writeable = False
    return weights


def normalised(score: Float64, random: Float64, oracle: Float64) -> Float64:
    """(score - random) / (oracle - random): 0 is a random map, 1 is the mask itself.

    Parameters
    ----------
    score, random, oracle
        float64 (..., S, N): a method's values and those of the two controls, on the same samples.

    Returns
    -------
    float64 (...): from the means over the values where all three are defined. NaN where there are none,
    or where the oracle is no better than chance.
    """
    score, random, oracle = np.broadcast_arrays(score, random, oracle)
    common = np.isfinite(score) & np.isfinite(random) & np.isfinite(oracle)
    count = np.maximum(common.sum(axis=(-2, -1)), 1)
    s, r, o = (np.where(common, array, 0.0).sum(axis=(-2, -1)) / count for array in (score, random, oracle))
    span = o - r
    usable = np.where(np.abs(span) > 1e-12, span, np.nan)
    return np.asarray((s - r) / usable, dtype=np.float64)


def mean_ranks(scores: Float64, higher_is_better: NDArray[np.bool_]) -> Float64:
    """Mean over metrics of each method's rank; 1 is best and ties share the mean of their ranks.

    Parameters
    ----------
    scores
        float64 (methods, metrics). A NaN ranks last; a metric that is NaN for every method does not count.
    higher_is_better
        bool (metrics,).
    """
    better_is_less = np.where(higher_is_better, -scores, scores)
    known = ~np.isnan(scores).all(axis=0)
    if not known.any():
        return np.full(len(scores), np.nan)
    ranks = rankdata(np.where(np.isnan(better_is_less), np.inf, better_is_less)[:, known], axis=0)
    return np.asarray(ranks.mean(axis=1), dtype=np.float64)


def accuracy_interval(accuracy: float, count: int, level: float = LEVEL) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of an accuracy measured on `count` images."""
    interval = binomtest(round(accuracy * count), count).proportion_ci(level, method="exact")
    return float(interval.low), float(interval.high)


def near_chance(accuracy: float, count: int, chance: float) -> bool:
    """Whether a model has learnt too little for its maps to mean anything.

    True if an exact binomial test at 1 % does not find the accuracy above chance, or if it is less than
    halfway between chance and 1.
    """
    above = binomtest(round(accuracy * count), count, chance, alternative="greater")
    return bool(above.pvalue >= CHANCE_ALPHA or accuracy < (1.0 + chance) / 2.0)
