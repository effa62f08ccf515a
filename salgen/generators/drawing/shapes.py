"""Antialiased shapes: the share of each pixel that a polygon covers, and painting by such shares.

Every pixel is sampled at 4 x 4 points, so a coverage is a multiple of 1/16. Only + - * / and comparisons decide
which of them lie in a shape, so that every machine draws the same bits. Points are (row, column) in pixels; (0, 0) is
the image's top left corner.
"""

from collections.abc import Sequence
from functools import lru_cache
import numpy as np
from numpy.typing import NDArray
from salgen.types import Float64, Mask

FINE = 4  # samples per pixel along each axis
QUARTER = 8  # corners of a quarter of a circle

Colour = Sequence[float] | Float64


def polygon(corners: Sequence[Sequence[float]] | Float64, image_size: tuple[int, int]) -> Float64:
    """Coverage of a polygon with (row, column) corners, float64 (H, W) in [0, 1]; parts outside are cut off."""
    return polygons(np.asarray(corners, dtype=np.float64), [len(corners)], image_size)


def polygons(corners: Float64, counts: Sequence[int], image_size: tuple[int, int]) -> Float64:
    """Coverage of several polygons at once, float64 (H, W) in [0, 1]; corners and counts as in :func:`covered`."""
    fine = np.zeros((image_size[0] * FINE, image_size[1] * FINE), dtype=bool)
    window, inside = covered(corners * FINE, counts, fine.shape)
    fine[window] = inside
    return means(fine.view(np.uint8))


def window_around(corners: Float64, image_size: tuple[int, int]) -> tuple[slice, slice]:
    """The pixels of an image that can lie in a polygon with (row, column) corners."""
    top, left = np.maximum(np.floor(corners.min(axis=0)), 0).astype(int).tolist()
    bottom, right = np.minimum(np.ceil(corners.max(axis=0)), image_size).astype(int).tolist()
    return slice(top, bottom), slice(left, right)


def oval(centre: Sequence[float] | Float64, radii: Sequence[float]) -> Float64:
    """An ellipse as a polygon, float64 (32, 2)."""
    return _CIRCLE * np.asarray(radii, dtype=np.float64) + np.asarray(centre, dtype=np.float64)


def paint(canvas: Float64, colour: Colour, coverage: Float64) -> None:
    """Blend a colour (3,) or a picture (H, W, 3) into a canvas (H, W, 3) in place, by a coverage (H, W) in [0, 1]."""
    share = coverage[..., np.newaxis]
    canvas += share * (np.asarray(colour, dtype=np.float64) - canvas)


def covered(
    corners: Float64, counts: Sequence[int], shape: tuple[int, ...], *, even_odd: bool = False
) -> tuple[tuple[slice, slice], Mask]:
    """The grid points whose middle lies in a polygon, or in any of several (nonzero winding rule).

    Corners are (row, column) in grid steps, float64 (N, 2), and `counts` says how many each polygon has. With
    `even_odd`, what a polygon encloses twice is outside. Returns the part of the grid that can lie in a polygon, and a
    bool array of that part.
    """
    ends = np.ceil(np.stack([corners.min(axis=0), corners.max(axis=0)]) - 0.5)
    (top, left), (bottom, right) = np.clip(ends, 0, shape).astype(int).tolist()
    after = following(tuple(counts))
    centres = np.arange(top, bottom) + 0.5
    above = corners[:, 0] <= centres[:, np.newaxis]
    row, edge = np.nonzero(above != above[:, after])
    (start_row, start_column), (end_row, end_column) = corners[edge].T, corners[after[edge]].T
    share = (centres[row] - start_row) / (end_row - start_row)
    crossing = start_column + share * (end_column - start_column)
    column = np.minimum(np.maximum(np.ceil(crossing - 0.5), left), right).astype(np.int64) - left
    turns = np.zeros((bottom - top, right - left + 1), dtype=np.int16)
    np.add.at(turns, (row, column), np.where(end_row > start_row, 1, -1).astype(np.int16))
    winding = np.add.accumulate(turns, axis=1, dtype=np.int16)[:, :-1]
    return (slice(top, bottom), slice(left, right)), (winding & 1 if even_odd else winding) != 0


@lru_cache(maxsize=256)
def following(counts: tuple[int, ...]) -> NDArray[np.int64]:
    """For each corner of some polygons the number of the next one along its polygon."""
    ends = np.cumsum(counts)
    after = np.arange(1, ends[-1] + 1)
    after[ends - 1] = ends - counts
    return after


def means(values: NDArray[np.uint8]) -> Float64:
    """The mean of every pixel's samples, (H, W) from (4 H, 4 W)."""
    rows = np.add(values[0::FINE], values[1::FINE], dtype=np.uint16)
    rows += values[2::FINE]
    rows += values[3::FINE]
    total = rows[:, 0::FINE] + rows[:, 1::FINE] + rows[:, 2::FINE] + rows[:, 3::FINE]
    return np.asarray(total / FINE**2)


def _circle() -> Float64:
    """Corners of the unit circle, float64 (4 QUARTER, 2)."""
    part = np.arange(QUARTER) / QUARTER
    quarter = np.stack([(1 - part**2) / (1 + part**2), 2 * part / (1 + part**2)], axis=1)
    turned = np.stack([-quarter[:, 1], quarter[:, 0]], axis=1)
    half = np.concatenate([quarter, turned])
    return np.concatenate([half, -half])


_CIRCLE = _circle()
