"""The random choices of a drawing, and the colours they pick."""

from collections.abc import Iterator, Sequence
from typing import TypeVar
from salgen.seeding import Stream

T = TypeVar("T")
Tint = tuple[int, int, int]  # red, green and blue in 0..255


class Choices:
    """Choices made by the numbers of a stream, one after the other."""

    def __init__(self, stream: Stream, count: int = 64) -> None:
        self._numbers: Iterator[float] = iter(stream.uniform(count).tolist())

    def draw(self) -> float:
        """A number in [0, 1)."""
        return next(self._numbers)

    def between(self, low: float, high: float) -> float:
        """A number in [low, high)."""
        return low + (high - low) * next(self._numbers)

    def of(self, options: Sequence[T]) -> T:
        """One of some options."""
        return options[int(next(self._numbers) * len(options))]

    def count(self, low: int, high: int) -> int:
        """A whole number from low to high."""
        return low + int(next(self._numbers) * (high - low + 1))

    def chance(self, share: float) -> bool:
        """True in a share of cases."""
        return next(self._numbers) < share

    def near(self, tint: Tint, spread: int = 10) -> Tint:
        """A colour close to another, each channel changed by at most `spread`."""
        red, green, blue = (min(255, max(0, level + self.count(-spread, spread))) for level in tint)
        return red, green, blue


def shade(tint: Tint, share: float) -> Tint:
    """A colour made darker (share below 1), or lighter by as much as the share is above 1."""
    if share <= 1:
        red, green, blue = (int(level * share) for level in tint)
    else:
        red, green, blue = (level + int((255 - level) * (share - 1)) for level in tint)
    return red, green, blue
