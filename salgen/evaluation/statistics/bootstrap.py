"""Confidence intervals of means: over samples, and over training seeds where there are enough."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from salgen.evaluation.statistics.proportions import are_hits, hit_interval
from salgen.evaluation.statistics.standard_errors import standard_error
from salgen.seeding import Stream
from salgen.types import Float64

RESAMPLES = 2000
LEVEL = 0.95
CROSSED_SEEDS = 5  # fewer training seeds say too little about the spread between trainings
_BLOCK = 2_000_000  # resampling weights held at a time


def bootstrap_interval(
    values: Float64,
    *,
    crossed: bool | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
    shares: bool | NDArray[np.bool_] = True,
) -> tuple[Float64, Float64]:
    """Bootstrap intervals of the means over training seeds and samples, as wide as few seeds demand.

    Scores that are 0 or 1 throughout have Clopper and Pearson's instead, :func:`hit_interval`.

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
    shares
        The scores that are taken for hits and misses if they are 0 or 1 throughout, bool or bool (K,).

    Returns
    -------
    low, high
        float64 (K,): NaN for a score that is defined for fewer than two samples. They may lie outside the
        score's bounds.

    Notes
    -----
    Percentiles of resampled means give the interval its shape. Its width is corrected: each end's
    distance from the mean is multiplied by t(v) / z times the standard error over the spread of the
    resampled means. Without this the percentiles of five seeds' means hold the truth in less than 90 % of
    all cases, since they are too close together by sqrt(4 / 5) and take no account of how poorly five numbers
    estimate a spread; and where seeds differ little, the pigeonhole bootstrap counts the noise of single scores
    three times. The standard error and its degrees of freedom v are those of :func:`standard_error`.

    Where nearly all samples are hits, a bootstrap sees too few misses, or none: for 20 samples and a share of
    0.95, 50 and 0.98, 200 and 0.99 it covers 64, 64 and 85 %, Clopper and Pearson's interval 98 %. Other scores
    that are all alike keep an interval of width 0, since they say nothing of their spread.

    Samples for which a score is undefined under every seed are left out before resampling. All scores
    share the resamples, and a score's interval does not depend on what else is in the table.

    References
    ----------
    Efron & Tibshirani 1993, *An introduction to the bootstrap*, chapter 13; Owen 2007, *The pigeonhole
    bootstrap*, Annals of Applied Statistics 1(2); Hesterberg 2015, *What teachers should know about the
    bootstrap*, The American Statistician 69(4), section 5 (expanded percentiles).
    """
    crossed = len(values) >= CROSSED_SEEDS if crossed is None else crossed
    bounds = np.full((2, values.shape[2]), np.nan)
    used = np.isfinite(values).any(axis=0)
    patterns, pattern_of = np.unique(used, axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        rows, chosen = patterns[:, number], np.flatnonzero(pattern_of.reshape(-1) == number)
        if rows.sum() >= 2:
            part = values[:, rows][:, :, chosen]
            hits = are_hits(part) & np.broadcast_to(shares, values.shape[2:])[chosen]
            if hits.any():
                bounds[:, chosen[hits]] = hit_interval(part[:, :, hits], crossed, level)
            if not hits.all():
                part, chosen = part[:, :, ~hits], chosen[~hits]
                means = _resampled_means(part, crossed, resamples, seed)
                bounds[:, chosen] = _widened(part, means, crossed, level)
    return bounds[0], bounds[1]


def _widened(values: Float64, means: Float64, crossed: bool, level: float) -> Float64:
    """float64 (2, K): percentiles of the resampled means, moved away from the mean as far as v demands."""
    tail = (1 - level) / 2
    quantile = np.nanquantile if np.isnan(means).any() else np.quantile  # the former takes each column by itself
    ends: Float64 = quantile(means, [tail, 1 - tail], axis=0)
    error, freedom = standard_error(values, crossed)
    spread = np.nanstd(means, axis=0)
    ratio = np.divide(error, spread, out=np.ones_like(error), where=spread > 0)
    middle = np.nanmean(values, axis=(0, 1))
    return np.asarray(middle + (ends - middle) * ratio * t.isf(tail, freedom) / norm.isf(tail))


def _resampled_means(values: Float64, crossed: bool, resamples: int, seed: int) -> Float64:
    """float64 (resamples, K): means of the defined values, each weighted by how often it was drawn."""
    defined = np.isfinite(values)
    totals, counts = np.where(defined, values, 0.0), defined.astype(np.float64)
    if defined.all():
        counts = counts[:, :, :1]  # the same for all scores
    if not crossed:
        totals, counts = totals.sum(0, keepdims=True), counts.sum(0, keepdims=True)
    seeds, samples = totals.shape[:2]
    means = []
    for block in _blocks(resamples, samples):
        sample_weights = _weights(seed, "samples", samples, block)
        seed_weights = _weights(seed, "seeds", seeds, block) if crossed else np.ones((len(block), 1))
        total, count = (_weighted_sums(array, sample_weights, seed_weights) for array in (totals, counts))
        means.append(np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0))
    return np.concatenate(means)


def _weighted_sums(array: Float64, sample_weights: Float64, seed_weights: Float64) -> Float64:
    """float64 (b, K): the weighted sums of (S, N, K) over seeds and samples."""
    seeds, samples, columns = array.shape
    flat = array.transpose(1, 0, 2).reshape(samples, seeds * columns)
    return np.asarray(np.einsum("bs,bsk->bk", seed_weights, (sample_weights @ flat).reshape(-1, seeds, columns)))


def _blocks(resamples: int, samples: int) -> Iterator[range]:
    """The numbers of the resamples, in pieces that bound the memory."""
    size = max(1, _BLOCK // samples)
    for start in range(0, resamples, size):
        yield range(start, min(start + size, resamples))


@lru_cache(maxsize=4)  # every table of a run draws the same
def _weights(seed: int, purpose: str, count: int, block: range) -> Float64:
    """float64 (len(block), count): how often each of `count` items is drawn; a stream per resample."""
    drawn = [Stream(seed, "bootstrap", purpose, index=number).integers(count, count) for number in block]
    weights = np.stack([np.bincount(indices, minlength=count) for indices in drawn]).astype(np.float64)
    weights.flags.writeable = False
    return weights
