"""Sign-flip tests of all pairs of methods on the same clusters."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
import numpy as np
from scipy.special import stdtrit
from salgen.evaluation.statistics.clusters import LEAST as LEAST_CLUSTERS
from salgen.evaluation.statistics.tolerance import differences
from salgen.evaluation.statistics.training_noise import TrainingNoise
from salgen.seeding import Stream
from salgen.types import Float64

ALPHA = 0.05
LEAST = 9_999  # permutations
_BLOCK = 8_000_000  # signs held at a time
_SAME = 1e-13  # sums that differ by less than this share of what was added differ by rounding
_EPS = np.finfo(np.float64).eps


def sign_flip_p_values(
    tables: Sequence[Float64], noises: Sequence[TrainingNoise | None] = (), *, permutations: int | None = None
) -> list[Float64]:
    """Two-sided p values of the mean differences between all pairs of columns, under one or more trainings.

    Each table is float64 (G, K): scores of K methods, summed over the samples of G clusters; NaN in whole rows, which
    do not count. `noises` are what the trainings add to the differences, None where the test is about one model. There
    is a p value for each of ``itertools.combinations(range(K), 2)``, NaN for fewer than six clusters.

    Notes
    -----
    If two methods are alike, the difference of each cluster might as well have the other sign. p is the
    share of sign patterns under which the sum of differences is at least as far from 0 as it was: of all
    2^G where there are no more of them than permutations, else (1 + hits) / (1 + permutations) of random
    ones. This takes the differences for symmetric about 0: a method that is a little better in most clusters and much
    worse in a few differs, even if the means are equal.

    With several trainings each pattern's sum is moved by the trainings' standard error times a Student variable with
    its degrees of freedom. So a difference counts only if neither other clusters nor other trainings would reverse it.

    Scores and sums that are equal up to rounding count as equal. A p value depends neither on other columns, however
    large, nor on other tables. All tables of as many clusters share the signs.

    References
    ----------
    Fisher 1935, *The design of experiments*, section 21; Phipson & Smyth 2010, *Permutation p-values
    should never be zero* (for the 1 + hits).
    """
    p_values: list[Float64 | None] = [None] * len(tables)
    drawn: dict[tuple[int, int], list[int]] = {}
    given = noises or [None] * len(tables)
    for number, (table, noise) in enumerate(zip(tables, given, strict=True)):
        wanted = permutations or permutations_for(table.shape[1])
        used = ~np.isnan(table).any(axis=1)
        if used.sum() < LEAST_CLUSTERS:
            p_values[number] = np.full(table.shape[1] * (table.shape[1] - 1) // 2, np.nan)
        elif used.sum() <= np.log2(wanted) and noise is None:
            (hits,) = _count_hits([_prepare_pairs(table[used], None)], _all_signs(int(used.sum())))
            p_values[number] = hits / 2.0 ** (used.sum() - 1)
        else:
            drawn.setdefault((len(table), wanted), []).append(number)
    for (clusters, wanted), numbers in drawn.items():
        prepared = [_prepare_pairs(tables[number], given[number]) for number in numbers]
        counted = _count_hits(prepared, _random_signs(clusters, wanted))
        for number, hits in zip(numbers, counted, strict=True):
            p_values[number] = (1.0 + hits) / (1.0 + wanted)
    return [p for p in p_values if p is not None]


def permutations_for(methods: int) -> int:
    """Enough that the smallest p value, times the number of pairs, is less than half of `ALPHA`."""
    pairs = methods * (methods - 1) // 2
    return max(LEAST, int(np.ceil(2 * pairs / ALPHA)))


@dataclass(frozen=True)
class _Pairs:
    """All pairs of a table's columns, prepared for sign flips."""

    columns: Float64  # float64 (N, K): the scores; 0 where there are none
    limits: Float64  # float64 (K, K), above the diagonal: how far from 0 a pair's flipped sum must be to count
    noise: TrainingNoise | None  # what the trainings add; None for one training


def _prepare_pairs(table: Float64, noise: TrainingNoise | None) -> _Pairs:
    """The pairs of a table's columns (N, K): one product gives the flipped sums of all, and their differences."""
    values = np.where(np.isnan(table).any(axis=1, keepdims=True), 0.0, table)
    size, methods = np.abs(values).sum(axis=0), table.shape[1]
    limits = np.zeros((methods, methods))
    for i in range(methods - 1):
        later = slice(i + 1, None)
        away = differences(values[:, i, None], values[:, later])
        added = np.abs(away).sum(axis=0)
        rounding = _SAME * added + 8 * _EPS * np.where(added > 0, size[i] + size[later], 0.0)
        limits[i, later] = np.abs(away.sum(axis=0)) - rounding
    return _Pairs(values, limits, noise)


def _random_signs(clusters: int, permutations: int) -> Iterator[Float64]:
    """float64 (b, clusters): 1 for a sign that stays, 0 for one that is flipped."""
    stream = Stream(0, "sign-flip")
    size = min(2048, max(1, _BLOCK // clusters // 4) * 4)  # a stream gives words by fours
    for start in range(0, permutations, size):
        rows, words = min(size, permutations - start), -(-clusters // 64)
        drawn = stream.words(rows * words).reshape(rows, words)
        bits = np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=clusters, bitorder="little")
        yield bits.astype(np.float64)


def _all_signs(clusters: int) -> Iterator[Float64]:
    """As :func:`_random_signs`, every pattern in which the first sign stays: the others mirror these."""
    patterns = np.arange(2 ** (clusters - 1))
    for start in range(0, len(patterns), 2048):
        yield ((patterns[start : start + 2048, None] << 1 | 1) >> np.arange(clusters) & 1).astype(np.float64)


def _count_hits(tables: Sequence[_Pairs], signs: Iterator[Float64]) -> list[Float64]:
    """The number of sign patterns that give a difference as large as the observed one: per table, of each pair."""
    hits = [np.zeros(table.limits.shape) for table in tables]
    stream = Stream(0, "sign-flip", "trainings")
    for kept in signs:
        chances = np.clip(stream.uniform(len(kept)), 1e-12, 1 - 1e-12)
        for table, count in zip(tables, hits, strict=True):
            sums = 2.0 * (table.columns.T @ kept.T) - table.columns.sum(axis=0)[:, None]
            _add_hits(sums, table, count, _moves(table.noise, chances))
    return [count[np.triu_indices(len(count), 1)] for count in hits]


def _moves(noise: TrainingNoise | None, chances: Float64) -> Callable[[int, Any], Float64 | float]:
    """A function of a method and others: what other trainings would add to their sums, float64 (pairs, b), or 0."""
    if noise is None:
        return lambda first, others: 0.0
    degrees, kind = np.unique(noise.freedom, return_inverse=True)
    students = np.stack([stdtrit(freedom, chances) for freedom in degrees])
    kinds = kind.reshape(noise.freedom.shape)
    return lambda first, others: noise.error[first, others][:, None] * students[kinds[first, others]]


def _add_hits(sums: Float64, pairs: _Pairs, hits: Float64, moves: Callable[[int, Any], Float64 | float]) -> None:
    """Add to hits (K, K), above the diagonal, how many of sums (K, b) differ by a pair's limit or more."""
    low, high = sums.min(axis=1), sums.max(axis=1)
    for i in range(len(sums) - 1):
        later = slice(i + 1, None)
        reach = np.maximum(high[i] - low[later], high[later] - low[i])
        near = pairs.limits[i, later] <= reach  # no other pair can differ so much in one training
        if pairs.noise is not None:
            near |= pairs.noise.error[i, later] > 0
        others = i + 1 + np.flatnonzero(near)
        away = np.abs(sums[others] - sums[i] + moves(i, others))
        hits[i, others] += (away >= pairs.limits[i, others, None]).sum(axis=1)
