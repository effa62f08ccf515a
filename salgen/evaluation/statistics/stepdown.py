"""Tests of all pairs of methods on few clusters: sign flips, corrected by the step-down of the largest difference."""

import numpy as np

from salgen.evaluation.statistics.clusters import LEAST as LEAST_CLUSTERS
from salgen.evaluation.statistics.permutation import LEAST as LEAST_PATTERNS
from salgen.seeding import Stream
from salgen.types import Float64

MOST_CLUSTERS = 14  # up to so many all patterns are tried
_ROUNDING = 1e-9  # sums that differ by less count as equal


def stepdown_p_values(values: Float64) -> Float64:
    """Two-sided p values of the mean differences between all pairs of columns, corrected for their number.

    Parameters
    ----------
    values
        float64 (G, K): what K methods have on each of G clusters, on a scale that all pairs share, such as ranks.

    Returns
    -------
    float64 (K (K - 1) / 2,), in the order of ``itertools.combinations(range(K), 2)``. NaN for fewer than six clusters,
    of which no difference could be significant.

    Notes
    -----
    Holm's correction multiplies p values by up to the number of pairs. With ten clusters none is below 2 / 2^10, so
    with 26 pairs or more nothing could ever be significant. Here a pattern flips a cluster's differences of all pairs
    at once, and a difference is compared with the largest that the pattern gives to it or to any smaller one: the
    probability of a wrong rejection stays at the level, and the smallest p value is 2 / 2^G for any number of pairs.
    ``python -m benchmarks.standing`` simulates both. Of more than 14 clusters 9,999 patterns are tried, random but for
    the first, which flips nothing.

    References
    ----------
    Westfall & Young 1993, *Resampling-based multiple testing*, algorithm 2.8.
    """
    clusters, methods = values.shape
    first, second = np.triu_indices(methods, 1)
    if clusters < LEAST_CLUSTERS:
        return np.full(len(first), np.nan)
    differences = values[:, first] - values[:, second]
    observed = np.abs(differences.sum(axis=0))
    ascending = np.argsort(observed, kind="stable")
    largest = np.maximum.accumulate(np.abs(_signs(clusters) @ differences[:, ascending]), axis=1)
    shares = (largest >= observed[ascending] - _ROUNDING).mean(axis=0)
    p_values = np.empty(len(first))
    p_values[ascending] = np.maximum.accumulate(shares[::-1])[::-1]
    return p_values


def _signs(clusters: int) -> Float64:
    """Patterns of signs, 1 and -1 (N, G): all whose first sign stays, which the others mirror, or random ones.

    The first keeps all signs.
    """
    if clusters <= MOST_CLUSTERS:
        flipped = (np.arange(2 ** (clusters - 1))[:, None] << 1 >> np.arange(clusters)) & 1
    else:
        flipped = (
            Stream("stepdown", 0, "signs").integers(2, LEAST_PATTERNS * clusters).reshape(LEAST_PATTERNS, clusters)
        )
        flipped[0] = 0
    return np.asarray(1.0 - 2.0 * flipped)
