"""Confidence intervals of mean scores: over clusters of samples, and over trainings where there are enough."""

from collections.abc import Iterator
from functools import lru_cache
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from salgen.evaluation.statistics.clusters import LEAST, cluster_sums, multiplicities, numbered
from salgen.evaluation.statistics.tolerance import differences
from salgen.evaluation.statistics.training_noise import training_variances
from salgen.seeding import Stream
from salgen.types import Float64

DRAWS = 2000
LEVEL = 0.95
_BLOCK = 4_000_000  # random numbers held at a time
LEAST_TRAININGS = 3  # fewer say too little about how trainings differ: the interval is then about these models
NOTE = (
    "95 % intervals are studentised over clusters, or Gaffke's where clusters are few, skewed or all at a bound; "
    "scores that are all equal have none"
)


def mean_intervals(
    values: Float64,
    clusters: NDArray[np.int64],
    low: Float64,
    high: Float64,
    *,
    guaranteed: bool = False,
    over_trainings: bool | None = None,
    draws: int = DRAWS,
) -> tuple[Float64, Float64]:
    """Confidence intervals of the means over training seeds and samples.

    Parameters
    ----------
    values
        float64 (S, N, K): K scores of N samples under S training seeds; NaN where undefined.
    clusters
        int64 (N,): the number of each sample's cluster. Clusters are independent, samples of one are not.
    low, high
        float64 (K,): each score's bounds, or infinity.
    guaranteed
        Whether every score with bounds has Gaffke's interval, not only where the studentised one may not cover.
    over_trainings
        Whether it is about other trainings too; by default where `LEAST_TRAININGS` seeds or more have values.

    Returns
    -------
    Both ends, float64 (K,). NaN for a score that is defined in fewer than two clusters, and for one that is the same on
    all samples and at no bound: nothing says how far other samples would differ.

    Notes
    -----
    The interval is a studentised bootstrap of the clusters, which knows nothing of failures that no sample shows.
    A score with bounds has Gaffke's interval instead where there are fewer than six clusters, where all its values are
    at one bound, and where there are fewer clusters than 25 times their squared skewness (Cochran's rule). No
    distribution between bounds is known for which Gaffke's interval covers less than it says, though a proof is open.
    Each end is a quantile of the mean under random weights, Dirichlet(1, ..., 1) over the clusters and one more, in
    which all scores have the worse bound. Of scores that are 0 or 1 it is Clopper and Pearson's. Clusters of unequal
    size count as their samples do.

    Over trainings, each draw is moved by the standard error between trainings times a Student variable with S - 1
    degrees of freedom. Sorted draws meet Student's quantiles on a lattice, so that the ends have little noise.
    Simulated coverage is in docs/statistics.md.

    Samples for which a score is undefined under every seed are left out, and so are seeds without any value. All
    scores share the draws, and a score's interval does not depend on what else is in the table.

    References
    ----------
    Cochran 1977, *Sampling techniques*, section 2.15 (skewness); Gaffke 2005, *Three test statistics for a
    nonparametric one-sided hypothesis on the mean of a nonnegative variable*, Mathematical Methods of Statistics 14(4);
    Learned-Miller & Thomas 2020, *A new confidence interval for the mean of a bounded random variable*,
    arXiv:1905.06208; Hesterberg 2015, *What teachers should know about the bootstrap*, The American Statistician
    69(4), section 4.6 (studentised).
    """
    ends = np.full((2, values.shape[2]), np.nan)
    bounds, bounded = np.stack([low, high]), np.isfinite(low) & np.isfinite(high)
    defined = np.isfinite(values)
    used = np.concatenate([defined.any(axis=0), defined.any(axis=1)])
    patterns, pattern_of = np.unique(used, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        rows, seeds = np.split(pattern, [values.shape[1]])
        trainings = int(seeds.sum())
        members = numbered(clusters[rows])
        if len(np.unique(members)) < 2:
            continue
        chosen = np.flatnonzero(pattern_of.reshape(-1) == number)
        part = values[seeds][:, rows][:, :, chosen]
        sums, counts = (
            cluster_sums(array.sum(axis=0), members).astype(np.float64)
            for array in (np.nan_to_num(part), np.isfinite(part))
        )
        unsafe = bounded[chosen] & (guaranteed | _unsafe(sums, counts, bounds[:, chosen]))
        over = trainings > 1 and (trainings >= LEAST_TRAININGS if over_trainings is None else over_trainings)
        for draw, kind in ((_gaffke, unsafe), (_studentised, ~unsafe)):
            if kind.any():
                drawn = draw(sums[:, kind], counts[:, kind], bounds[:, chosen[kind]], draws)
                if over:
                    error = np.sqrt(training_variances(part[:, :, kind], members))
                    drawn = np.sort(drawn, axis=1) + error * _student(draws, trainings - 1)
                for end, share in enumerate(((1 - LEVEL) / 2, (1 + LEVEL) / 2)):
                    ends[end, chosen[kind]] = np.quantile(drawn[end], share, axis=0, method="hazen")
    ends[:, ends[0] == ends[1]] = np.nan
    return np.maximum(ends[0], low), np.minimum(ends[1], high)


def _unsafe(sums: Float64, counts: Float64, bounds: Float64) -> NDArray[np.bool_]:
    """Whether the studentised interval may not cover: few clusters, all values at one bound, or skewed clusters."""
    mean = sums.sum(axis=0) / counts.sum(axis=0)
    away = differences(sums, mean * counts)
    away /= np.maximum(np.abs(away).max(axis=0), np.finfo(np.float64).tiny)
    skewed = len(sums) * (away**2).mean(axis=0) ** 3 < 25 * (away**3).mean(axis=0) ** 2
    return np.asarray(skewed | (differences(mean, bounds) == 0).any(axis=0) | (len(sums) < LEAST))


def _gaffke(sums: Float64, counts: Float64, bounds: Float64, draws: int) -> Float64:
    """float64 (2, draws, K): weighted means of the clusters and of one more at the lower, then at the upper bound."""
    size = counts.mean(axis=0)
    parts = []
    for block in _blocks(draws, len(sums) + 1):
        weights = _exponentials(block, len(sums) + 1)
        total, count, more = weights[:, :-1] @ sums, weights[:, :-1] @ counts, weights[:, -1:] * size
        parts.append([(total + more * bound) / (count + more) for bound in bounds])
    return np.concatenate(parts, axis=1)


def _studentised(sums: Float64, counts: Float64, bounds: Float64, draws: int) -> Float64:
    """float64 (2, draws, K), twice the same: the mean less its standard error times studentised errors of resamples."""
    mean, error = _mean_and_error(sums, counts, np.ones((1, len(sums))))
    blocks = _blocks(draws, len(sums))
    resampled = [_mean_and_error(sums, counts, _multiplicities(block, len(sums))) for block in blocks]
    drawn, errors = (np.concatenate(part) for part in zip(*resampled, strict=True))
    away = np.divide(drawn - mean, errors, out=np.zeros_like(drawn), where=errors > 0)
    return np.stack([mean - away * error] * 2)


def _mean_and_error(sums: Float64, counts: Float64, weights: Float64) -> tuple[Float64, Float64]:
    """Means and their standard errors, float64 (draws, K), where clusters count as often as `weights` (draws, G)."""
    count = weights @ counts
    mean = (weights @ sums) / count
    squares = weights @ sums**2 - 2 * mean * (weights @ (sums * counts)) + mean**2 * (weights @ counts**2)
    clusters = weights.sum(axis=1, keepdims=True)
    rounding = 1e-12 * (weights @ sums**2)
    squares = np.where(squares > rounding, squares, 0.0)
    return mean, np.sqrt(squares * clusters / (clusters - 1)) / count


def _blocks(draws: int, count: int) -> Iterator[range]:
    """The numbers of the draws, in pieces that bound the memory."""
    size = max(1, _BLOCK // count)
    for start in range(0, draws, size):
        yield range(start, min(start + size, draws))


@lru_cache(maxsize=4)  # every table of a run draws the same
def _exponentials(block: range, count: int) -> Float64:
    """float64 (len(block), count): standard exponential variables."""
    uniform = Stream(0, "interval", "weights", index=block.start).uniform(len(block) * count)
    return np.asarray(-np.log1p(-uniform).reshape(len(block), count))


@lru_cache(maxsize=4)
def _multiplicities(block: range, count: int) -> Float64:
    """float64 (len(block), count): how often each of `count` clusters is drawn, with replacement."""
    drawn = Stream(0, "interval", "resamples", index=block.start).integers(count, len(block) * count)
    return multiplicities(drawn.reshape(len(block), count), count)


@lru_cache(maxsize=4)
def _student(draws: int, freedom: int) -> Float64:
    """float64 (draws, 1): quantiles of a Student variable, in an order that any stretch of draws holds evenly."""
    order = np.argsort(np.argsort(np.arange(draws) * (np.sqrt(5) - 1) / 2 % 1))
    return np.asarray(stdtrit(freedom, (order + 0.5) / draws)[:, np.newaxis])
