"""Many shaded shapes at once: polygons are collected, and drawn together with clean edges.

A pixel is sampled at 4 x 4 points; each point belongs to the shape that was laid there last. In each row a shape
reaches from its leftmost to its rightmost edge, so that all rows of all shapes are computed at once; a figure with a
notch in a row is made of several shapes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.drawing.choices import Choices
from salgen.generators.drawing.shapes import FINE
from salgen.types import Float64

STEPS = 2.0**16  # a shape's numbers are multiples of 1 / STEPS, so their sums over a pixel's points are exact
COLUMNS = 9  # red, green, blue, light at the top of the image, its change down to the bottom, textures, coverage


@dataclass(frozen=True)
class Ink:
    """A colour, and how much of each texture it shows."""

    colour: tuple[float, float, float]  # (red, green, blue) in [0, 1]
    # mottle, grain, streak: shares of the coarse, the fine and the upright texture
    mottle: float = 0.1
    grain: float = 0.08
    streak: float = 0.0


class Sheet:
    """Shapes to be drawn, later ones over earlier ones; points are (x, y) in shares of the image."""

    def __init__(self) -> None:
        self._points: list[tuple[float, float]] = []
        self._counts: list[int] = []
        self._numbers: list[tuple[float, ...]] = []

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, points: Sequence[tuple[float, float]], ink: Ink, light: float = 1.0, fall: float = 0.0) -> None:
        """Lay down a shape; `light` is a factor of the colour in its middle, `fall` its loss from top to bottom."""
        downs = [y for _, y in points]
        top, bottom = min(downs), max(downs)
        slope = -fall / max(bottom - top, 0.02)
        self._points.extend(points)
        self._counts.append(len(points))
        start = light - slope * (top + bottom) / 2
        self._numbers.append((*ink.colour, start, slope, ink.mottle, ink.grain, ink.streak, 1.0))

    def drawn(self, image_size: tuple[int, int], window: tuple[float, float, float] = (1.0, 0.0, 0.0)) -> Float64:
        """The mean of the shapes' numbers in each pixel, float64 (H, W, COLUMNS), 0 where there is no shape.

        `window` is the part of the scene that the image shows: its share, its left and its top.
        """
        height, width = image_size
        owners = self._owners(height * FINE, width * FINE, window)
        blocks = owners.reshape(height, FINE, width, FINE).transpose(0, 2, 1, 3).reshape(height * width, FINE * FINE)
        numbers = np.zeros((len(self._counts) + 1, COLUMNS))
        numbers[1:] = np.rint(np.asarray(self._numbers) * STEPS) / STEPS
        values = numbers[blocks[:, 0]]
        mixed = np.flatnonzero((blocks != blocks[:, :1]).any(axis=1))
        values[mixed] = sum(numbers[place] for place in blocks[mixed].T) / FINE**2
        return values.reshape(height, width, COLUMNS)

    def _owners(self, height: int, width: int, window: tuple[float, float, float]) -> NDArray[np.uint16]:
        """The number, from 1, of the shape that each point of a grid shows; 0 where there is none."""
        share, left, top = window
        corners = (np.asarray(self._points)[:, ::-1] - (top, left)) * (height / share, width / share)
        tops, bottoms, starts, ends = _spans(corners, np.asarray(self._counts), height, width)
        owners = np.zeros((height, width), dtype=np.uint16)
        columns = np.arange(width, dtype=np.int32)
        seen = np.flatnonzero(bottoms > tops)
        firsts = np.cumsum(bottoms[seen] - tops[seen]) - (bottoms[seen] - tops[seen])
        lows, highs = np.minimum.reduceat(starts[:, 0], firsts), np.maximum.reduceat(ends[:, 0], firsts)
        bounds = np.stack([seen, tops[seen], bottoms[seen], firsts, lows, highs], axis=1)
        for number, above, below, first, low, high in bounds[lows < highs].tolist():
            rows = slice(first, first + below - above)
            across = columns[low:high]
            inside = (across >= starts[rows]) & (across < ends[rows])
            np.copyto(owners[above:below, low:high], number + 1, where=inside)
        return owners


def _spans(
    corners: Float64, counts: NDArray[np.int64], height: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The first and one past the last row of each shape; and of all rows of all shapes the columns, each (N, 1)."""
    ends = np.cumsum(counts)
    starts = ends - counts
    rows = np.minimum(np.maximum(np.ceil(corners[:, 0] - 0.5), 0), height).astype(np.int64)
    tops, bottoms = np.minimum.reduceat(rows, starts), np.maximum.reduceat(rows, starts)
    offsets = np.cumsum(bottoms - tops) - (bottoms - tops)
    after = np.arange(1, len(corners) + 1)
    after[ends - 1] = starts
    low, high = np.minimum(rows, rows[after]), np.maximum(rows, rows[after])
    edge = np.repeat(np.arange(len(corners)), high - low)
    row = np.arange(len(edge)) - np.repeat(np.cumsum(high - low) - (high - low), high - low) + low[edge]
    down, across = (corners[after] - corners).T
    slope = np.divide(across, down, out=np.zeros(len(down)), where=down != 0)  # level edges cross no row
    crossing = corners[edge, 1] + (row + 0.5 - corners[edge, 0]) * slope[edge]
    column = np.minimum(np.maximum(np.ceil(crossing - 0.5), 0), width).astype(np.int32)
    shape = np.repeat(np.arange(len(counts)), counts)[edge]
    place = offsets[shape] + row - tops[shape]
    total = int((bottoms - tops).sum())
    lefts, rights = np.full(total, width, dtype=np.int32), np.zeros(total, dtype=np.int32)
    np.minimum.at(lefts, place, column)
    np.maximum.at(rights, place, column)
    return tops, bottoms, lefts[:, np.newaxis], rights[:, np.newaxis]


# Scenes must not be told apart by their mean colour, so ranges are wide and overlap: grass may be dry, snow may lie in
# shade, walls have any colour.
# By kind: "colours" that an ink lies between, and in "texture" its mottle, grain and streak
RANGES: dict[str, dict[str, Any]] = catalogue("inks.json")


def mixed(name: str, dice: Choices) -> Ink:
    """An ink of a kind, between two of its colours; digits at the end of a name tell inks of one kind apart."""
    kind = RANGES[name.rstrip("0123456789")]
    first, second = dice.of(kind["colours"]), dice.of(kind["colours"])
    share, gain = 0.5 * dice.draw(), 0.82 + 0.3 * dice.draw()
    red, green, blue = (min((a + share * (b - a)) * gain, 1.0) for a, b in zip(first, second, strict=True))
    return Ink((red, green, blue), *kind["texture"])
