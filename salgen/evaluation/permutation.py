"""Sign-flip permutation tests of all pairs of methods on the same samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from salgen.seeding import Stream
from salgen.types import Float64

ALPHA = 0.05
LEAST = 9_999  # permutations
_BLOCK = 8_000_000  # signs held at a time
_SAME = 1e-10  # sums that differ by less than this share of what was added differ by rounding


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
    ones. Sums that are equal up to rounding count as equal. All tables of as many samples share the
    signs, and a p value does not depend on what other tables there are.

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
            (hits,) = _hits([_centred(table[used])], _all_signs(int(used.sum())))
            found[number] = hits / 2.0 ** max(used.sum() - 1, 0)
        else:
            drawn.setdefault((len(table), wanted), []).append(number)
    for (samples, wanted), numbers in drawn.items():
        hits_of = _hits([_centred(tables[number]) for number in numbers], _random_signs(samples, wanted, seed))
        for number, hits in zip(numbers, hits_of, strict=True):
            found[number] = (1.0 + hits) / (1.0 + wanted)
    return [p for p in found if p is not None]


def permutations_for(methods: int) -> int:
    """Enough that the smallest p value, times the number of pairs, is less than half of `ALPHA`."""
    pairs = methods * (methods - 1) // 2
    return max(LEAST, int(np.ceil(2 * pairs / ALPHA)))


def _centred(table: Float64) -> Float64:
    """The scores less each sample's mean, which no difference contains; 0 where there are none."""
    away: Float64 = table - table.mean(axis=1, keepdims=True)
    return np.where(np.isnan(away), 0.0, away)


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


def _hits(tables: Sequence[Float64], signs: Iterator[Float64]) -> list[Float64]:
    """For each table how many of the sign patterns give a difference as large as the observed one, per pair."""
    columns = np.concatenate(tables, axis=1)
    totals, size = columns.sum(axis=0), np.abs(columns).sum(axis=0)
    ends = np.cumsum([table.shape[1] for table in tables])
    parts = [slice(end - table.shape[1], end) for end, table in zip(ends, tables, strict=True)]
    limits = [
        np.abs(totals[part, None] - totals[None, part]) - _SAME * (size[part, None] + size[None, part])
        for part in parts
    ]
    hits = [np.zeros(limit.shape) for limit in limits]
    for kept in signs:
        sums = 2.0 * (columns.T @ kept.T) - totals[:, None]
        for part, limit, count in zip(parts, limits, hits, strict=True):
            _count(sums[part], limit, count)
    return [np.array([count[pair] for pair in combinations(range(len(count)), 2)]) for count in hits]


def _count(sums: Float64, limit: Float64, hits: Float64) -> None:
    """Add to hits (K, K), above the diagonal, how many of sums (K, b) differ by the limit (K, K) or more."""
    low, high = sums.min(axis=1), sums.max(axis=1)
    for one in range(len(sums) - 1):
        rest = slice(one + 1, None)
        reach = np.maximum(high[one] - low[rest], high[rest] - low[one])
        others = one + 1 + np.flatnonzero(limit[one, rest] <= reach)  # the rest cannot differ so much
        hits[one, others] += (np.abs(sums[others] - sums[one]) >= limit[one, others, None]).sum(axis=1)
