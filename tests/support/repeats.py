"""How often tests repeat: a few times, or with --torture as often as it takes to be sure."""

from collections.abc import Iterable
from itertools import product
from typing import Any

torture = False


def often(times: int, torture_times: int) -> range:
    """The first numbers to try, as many as `times`, or as `torture_times` with --torture."""
    return range(torture_times if torture else times)


def mixed(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Every combination of the axes' values with --torture, else a share of them that holds each value of each axis.

    Of "abc" and (1, 2, 3) it is a1, b3 and c2; of three axes as long as each other, it holds each pair of values.
    """
    numbered = [list(enumerate(axis)) for axis in axes]
    shortest = min(map(len, numbered))
    chosen = [one for one in product(*numbered) if torture or sum(number for number, _ in one) % shortest == 0]
    return [tuple(value for _, value in one) for one in chosen]
