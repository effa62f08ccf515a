"""Ten silhouettes and five textures: what tells fifty classes of things apart.

A silhouette is a closed outline around the origin, rows pointing down. A texture says for each pixel how much
of the second colour it shows. Both are sums and products of the numbers in a recipe, so any machine gets the
same pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from salgen.seeding import Stream
from salgen.types import Float64

Points = Sequence[tuple[float, float]]

PER_KNOT = 5  # points of a smooth outline between two of its knots

# (row, column) of the right half, from top to bottom. A knot given twice is a corner.
ANGULAR: dict[str, Points] = {
    "star": [(-1.0, 0.0), (-0.309, 0.225), (-0.309, 0.951), (0.118, 0.363), (0.809, 0.588), (0.382, 0.0)],
    "cross": [(-1.0, 0.0), (-1.0, 0.32), (-0.32, 0.32), (-0.32, 1.0), (0.32, 1.0), (0.32, 0.32), (1.0, 0.32)],
    "fir": [(-1.0, 0.0), (-0.4, 0.42), (-0.4, 0.2), (0.1, 0.62), (0.1, 0.3), (0.65, 0.8), (0.65, 0.14), (1.0, 0.14)],
    "plane": [
        *[(-1.0, 0.0), (-0.8, 0.14), (-0.35, 0.16), (0.2, 1.0), (0.38, 1.0), (0.22, 0.14), (0.6, 0.12), (0.86, 0.42)],
        *[(0.98, 0.42), (0.9, 0.0)],
    ],
}
SMOOTH: dict[str, Points] = {
    "heart": [(-0.45, 0.0), (-0.45, 0.0), (-0.85, 0.45), (-0.5, 0.95), (0.05, 0.75), (0.95, 0.0), (0.95, 0.0)],
    "mushroom": [
        *[(-0.9, 0.0), (-0.75, 0.55), (-0.1, 1.0), (0.05, 0.9), (0.05, 0.9), (0.05, 0.3), (0.05, 0.3), (0.6, 0.26)],
        *[(0.95, 0.4), (0.95, 0.4), (0.95, 0.0)],
    ],
    "bottle": [
        *[(-1.0, 0.0), (-1.0, 0.16), (-1.0, 0.16), (-0.55, 0.16), (-0.25, 0.38), (0.0, 0.44), (0.9, 0.42)],
        *[(1.0, 0.32), (1.0, 0.0)],
    ],
    "butterfly": [
        *[(-0.35, 0.0), (-0.35, 0.0), (-0.3, 0.1), (-0.85, 0.6), (-0.8, 1.0), (-0.2, 0.85), (0.05, 0.5), (0.05, 0.5)],
        *[(0.4, 0.75), (0.8, 0.6), (0.7, 0.3), (0.3, 0.08), (0.5, 0.0), (0.5, 0.0)],
    ],
}
# Whole outlines: these two are not alike on both sides.
WHOLE: dict[str, Points] = {
    "fish": [
        *[(0.0, -1.0), (-0.42, -0.45), (-0.45, 0.05), (-0.1, 0.5), (-0.1, 0.5), (-0.48, 0.95), (-0.48, 0.95)],
        *[(0.0, 0.8), (0.48, 0.95), (0.48, 0.95), (0.1, 0.5), (0.1, 0.5), (0.45, 0.05), (0.42, -0.45)],
    ],
    "moon": [
        *[(-0.95, 0.35), (-0.95, 0.35), (-0.8, -0.3), (0.0, -0.72), (0.8, -0.3), (0.95, 0.35), (0.95, 0.35)],
        *[(0.55, 0.08), (0.0, -0.12), (-0.55, 0.08)],
    ],
}
SHAPES = ("star", "heart", "cross", "moon", "fish", "mushroom", "bottle", "butterfly", "fir", "plane")


def outline(shape: str) -> Float64:
    """A silhouette's corners, float64 (N, 2), centred on its bounding box and scaled to an area of 1."""
    if shape in WHOLE:
        corners = _smooth(np.array(WHOLE[shape]))
    elif shape in SMOOTH:
        corners = _smooth(_mirrored(SMOOTH[shape]))
    else:
        corners = _mirrored(ANGULAR[shape])
    corners = corners - (corners.max(axis=0) + corners.min(axis=0)) / 2
    following = np.roll(corners, -1, axis=0)
    area = abs(float((corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0]).sum())) / 2
    return np.asarray(np.round(corners / np.sqrt(area), 6))


def turned(points: Float64, turn: float) -> Float64:
    """Points (..., 2) turned about the origin by the angle whose half has the tangent `turn`."""
    along, aside = (1 - turn * turn) / (1 + turn * turn), 2 * turn / (1 + turn * turn)
    rows, columns = points[..., 0], points[..., 1]
    return np.stack([along * rows - aside * columns, aside * rows + along * columns], axis=-1)


def texture(name: str, places: Float64, pixel: float, key: int) -> Float64:
    """How much of the second colour shows at each pixel, float64 (H, W) in [0, 1].

    Parameters
    ----------
    name
        One of :data:`TEXTURES`.
    places
        (H, W, 2): each pixel's (row, column) on the thing, whose area is 1.
    pixel
        A pixel's side on the thing: edges are softened over it.
    key
        Where the pattern begins.
    """
    return TEXTURES[name](places, pixel, Stream.from_key(key, "texture"))


def _stripes(places: Float64, pixel: float, stream: Stream) -> Float64:
    return _soft(_wave(places[..., 0] + float(stream.uniform(1)[0]), 0.3), pixel)


def _checks(places: Float64, pixel: float, stream: Stream) -> Float64:
    start = stream.uniform(2)
    down, across = (2 * _soft(_wave(places[..., axis] + start[axis], 0.5), pixel) - 1 for axis in (0, 1))
    return np.asarray((1 + down * across) / 2)


def _dots(places: Float64, pixel: float, stream: Stream) -> Float64:
    start, period = stream.uniform(2), 0.33
    rows = (places[..., 0] + start[0]) / period
    columns = (places[..., 1] + start[1]) / period + 0.5 * (np.floor(rows) % 2)  # every other row is shifted
    down, across = rows - np.floor(rows) - 0.5, columns - np.floor(columns) - 0.5
    return _soft((0.33 - np.sqrt(down * down + across * across)) * period, pixel)


def _rings(places: Float64, pixel: float, stream: Stream) -> Float64:
    radius = np.sqrt((places * places).sum(axis=-1))
    return _soft(_wave(radius + float(stream.uniform(1)[0]), 0.28), pixel)


def _halves(places: Float64, pixel: float, stream: Stream) -> Float64:
    return _soft(places[..., 1] + 0.2 * (float(stream.uniform(1)[0]) - 0.5), pixel)


TEXTURES: dict[str, Callable[[Float64, float, Stream], Float64]] = {
    "stripes": _stripes,
    "checks": _checks,
    "dots": _dots,
    "rings": _rings,
    "halves": _halves,
}


def _wave(values: Float64, period: float) -> Float64:
    """Signed distance to the nearest edge of bands that are half a period wide."""
    phase = values / period
    return np.asarray((0.25 - np.abs(phase - np.floor(phase) - 0.5)) * period)


def _soft(distance: Float64, pixel: float) -> Float64:
    """From 0 to 1 across an edge, within one pixel."""
    return np.clip(0.5 + distance / pixel, 0.0, 1.0)


def _mirrored(half: Points) -> Float64:
    """The outline whose right half is given, column 0 being the mirror."""
    left = [(row, -column) for row, column in reversed(half) if column]
    return np.array([*half, *left])


def _smooth(knots: Float64) -> Float64:
    """A closed Catmull-Rom spline through knots (N, 2), PER_KNOT points for each that is followed by another one."""
    before, after, beyond = (np.roll(knots, shift, axis=0) for shift in (1, -1, -2))
    share = (np.arange(PER_KNOT) / PER_KNOT)[:, None]
    pieces = (
        knots[:, None]
        + (after - before)[:, None] * (0.5 * share)
        + (2 * before - 5 * knots + 4 * after - beyond)[:, None] * (0.5 * share * share)
        + (3 * knots - before - 3 * after + beyond)[:, None] * (0.5 * share * share * share)
    )
    return np.asarray(pieces[(knots != after).any(axis=1)].reshape(-1, 2))
