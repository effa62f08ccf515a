"""Sign-flip permutation tests of all pairs of methods on the same samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from salgen.evaluation.statistics.tolerance import differences
from salgen.seeding import Stream
from salgen.types import Float64

ALPHA = 0.05
LEAST = 9_999  # permutations
_BLOCK = 8_000_000  # signs held at a time
_SAME = 1e-13  # sums that differ by less than this share of what was added differ by rounding
_EPS = np.finfo(np.float64).eps


def sign_flip_p_values(tables: Sequence[Float64], *, permutations: int | None = None, seed: int = 0) -> list[Float64]:
    """Two-sided p values of the mean differences between all pairs of columns.

    Parameters
    ----------
    tables
        Each float64 (N, K): scores of K methods on N samples; NaN in whole rows, which do not count.
    permutations
        How often signs are drawn; by default :func:`permutations_for` K.
    seed
        Seed of the signs.

    Returns
    -------
    For each table float64 (K (K - 1) / 2,), in the order of ``itertools.combinations(range(K), 2)``.

    Notes
    -----
    If two methods are alike, the difference of each sample might as well have the other sign. p is the
    share of sign patterns under which the mean difference is at least as far from 0 as it was: of all
    2^n where there are no more of them than permutations, else (1 + hits) / (1 + permutations) of random
    ones. Scores and sums that are equal up to rounding count as equal. What rounding is follows from the
    two methods alone: a p value depends neither on other columns, however large, nor on other tables.
    All tables of as many samples share the signs.

    References
    ----------
    Fisher 1935, *The design of experiments*, section 21; Phipson & Smyth 2010, *Permutation p-values
    should never be zero* (for the 1 + hits).
    """
    found: list[Float64 | None] = [None] * len(tables)
    drawn: dict[tuple[int, int], list[int]] = {}
    for number, table in enumerate(tables):
        wanted = permutations or permutations_for(table.shape[1])
        used = ~np.isnan(table).any(axis=1)
        if used.sum() <= np.log2(wanted):
            (hits,) = _hits([_pairs_of(table[used])], _all_signs(int(used.sum())))
            found[number] = hits / 2.0 ** max(used.sum() - 1, 0)
        else:
            drawn.setdefault((len(table), wanted), []).append(number)
    for (samples, wanted), numbers in drawn.items():
        hits_of = _hits([_pairs_of(tables[number]) for number in numbers], _random_signs(samples, wanted, seed))
        for number, hits in zip(numbers, hits_of, strict=True):
            found[number] = (1.0 + hits) / (1.0 + wanted)
    return [p for p in found if p is not None]


def permutations_for(methods: int) -> int:
    """Enough that the smallest p value, times the number of pairs, is less than half of `ALPHA`."""
    pairs = methods * (methods - 1) // 2
    return max(LEAST, int(np.ceil(2 * pairs / ALPHA)))


@dataclass(frozen=True)
class _Pairs:
    """All pairs of a table's columns, made ready for sign flips.

    Attributes
    ----------
    columns
        float64 (N, K): scores less each sample's median, which no difference contains; 0 where there are none.
    limits
        float64 (K, K), above the diagonal: how far from 0 a pair's flipped sum must be to count.
    apart
        The pairs whose differences the columns are too large to give precisely, each (one, other).
    differences
        float64 (N, pairs apart): theirs, which are flipped themselves.
    """

    columns: Float64
    limits: Float64
    apart: list[tuple[int, int]]
    differences: Float64


def _pairs_of(table: Float64) -> _Pairs:
    """What a table (N, K) needs for sign flips.

    One product gives the flipped sums of all columns, and their differences those of all pairs. Where that
    loses more than the pair's own rounding (columns far larger than their difference), the pair is apart.
    """
    samples, methods = table.shape
    values = np.where(np.isnan(table).any(axis=1, keepdims=True), 0.0, table)
    columns = values - np.median(values, axis=1, keepdims=True)
    size, values_size = np.abs(columns).sum(axis=0), np.abs(values).sum(axis=0)
    limits = np.zeros((methods, methods))
    apart: list[tuple[int, int]] = []
    alone: list[Float64] = [np.empty((samples, 0))]
    for one in range(methods - 1):
        rest = slice(one + 1, None)
        away = differences(values[:, one, None], values[:, rest])
        added, total = np.abs(away).sum(axis=0), away.sum(axis=0)
        read = _EPS * np.where(added > 0, values_size[one] + values_size[rest], 0.0)
        rounding = _SAME * added + read
        limits[one, rest] = np.abs(total) - rounding
        lost = np.abs(columns[:, one, None] - columns[:, rest] - away).sum(axis=0) + 8 * _EPS * (size[one] + size[rest])
        chosen = np.flatnonzero((lost > rounding) & (added > 0))
        apart += [(one, one + 1 + int(other)) for other in chosen]
        alone.append(away[:, chosen])
    return _Pairs(columns, limits, apart, np.concatenate(alone, axis=1))


def _random_signs(samples: int, permutations: int, seed: int) -> Iterator[Float64]:
    """float64 (b, samples): 1 for a sign that stays, 0 for one that is flipped; a stream per permutation."""
    size = min(2048, max(1, _BLOCK // samples))
    for start in range(0, permutations, size):
        numbers = range(start, min(start + size, permutations))
        words = np.stack([Stream(seed, "sign-flip", index=number).words(-(-samples // 64)) for number in numbers])
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=samples, bitorder="little")
        yield bits.astype(np.float64)


def _all_signs(samples: int) -> Iterator[Float64]:
    """As :func:`_random_signs`, every pattern in which the first sign stays: the others mirror these."""
    patterns = np.arange(2 ** max(samples - 1, 0))
    for start in range(0, len(patterns), 2048):
        yield ((patterns[start : start + 2048, None] << 1 | 1) >> np.arange(samples) & 1).astype(np.float64)


def _hits(tables: Sequence[_Pairs], signs: Iterator[Float64]) -> list[Float64]:
    """For each table how many of the sign patterns give a difference as large as the observed one, per pair."""
    arrays = [array for table in tables for array in (table.columns, table.differences)]
    together = np.concatenate(arrays, axis=1)
    totals = together.sum(axis=0)
    parts = np.split(np.arange(together.shape[1]), np.cumsum([array.shape[1] for array in arrays])[:-1])
    hits = [np.zeros(table.limits.shape) for table in tables]
    for kept in signs:
        sums = 2.0 * (together.T @ kept.T) - totals[:, None]
        for table, count, of_columns, of_pairs in zip(tables, hits, parts[::2], parts[1::2], strict=True):
            _count(sums[of_columns], table, count)
            for pair, flipped in zip(table.apart, sums[of_pairs], strict=True):
                count[pair] += (np.abs(flipped) >= table.limits[pair]).sum()
    return [np.array([count[pair] for pair in combinations(range(len(count)), 2)]) for count in hits]


def _count(sums: Float64, of: _Pairs, hits: Float64) -> None:
    """Add to hits (K, K), above the diagonal, how many of sums (K, b) differ by a pair's limit or more."""
    low, high = sums.min(axis=1), sums.max(axis=1)
    left = np.ones(hits.shape, dtype=bool)
    for pair in of.apart:
        left[pair] = False
    for one in range(len(sums) - 1):
        rest = slice(one + 1, None)
        reach = np.maximum(high[one] - low[rest], high[rest] - low[one])
        near = of.limits[one, rest] <= reach  # the rest cannot differ so much
        others = one + 1 + np.flatnonzero(near & left[one, rest])
        hits[one, others] += (np.abs(sums[others] - sums[one]) >= of.limits[one, others, None]).sum(axis=1)
