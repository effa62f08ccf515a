"""Ten silhouettes and five textures, which together make fifty classes of objects.

A silhouette is a closed outline around the origin, rows pointing down. A texture gives each
pixel's share of the second colour. Both are sums and products of the numbers in a recipe, so that any machine gets
the same pixels.
"""

from collections.abc import Callable

import numpy as np

from salgen.generators.drawing.catalogue import catalogue, read_points
from salgen.generators.drawing.outlines import smooth
from salgen.seeding import Stream
from salgen.types import Float64

SILHOUETTES = catalogue("silhouettes.json")  # (row, column) of a whole outline, or of its right half from the top down
SHAPES = tuple(SILHOUETTES)


def outline(shape: str) -> Float64:
    """A silhouette's corners, float64 (N, 2), centred on its bounding box and scaled to an area of 1."""
    entry = SILHOUETTES[shape]
    corners = read_points(entry["points"] if "points" in entry else entry["half"])[0]
    if "half" in entry:
        left = corners[corners[:, 1] != 0][::-1] * (1, -1)
        corners = np.concatenate([corners, left])
    if "smooth" in entry:
        corners = smooth(corners)
    corners = corners - (corners.max(axis=0) + corners.min(axis=0)) / 2
    following = np.roll(corners, -1, axis=0)
    area = abs(float((corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0]).sum())) / 2
    return np.asarray(np.round(corners / np.sqrt(area), 6))


def texture(name: str, places: Float64, pixel: float, key: int) -> Float64:
    """The share of the second colour at each pixel, float64 (H, W) in [0, 1].

    Parameters
    ----------
    name
        One of :data:`TEXTURES`.
    places
        (H, W, 2): each pixel's (row, column) on the object, whose area is 1.
    pixel
        A pixel's side on the object: edges are softened over it.
    key
        Seed of the pattern's position.
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
    """A step from 0 to 1 across an edge, within one pixel."""
    return np.clip(0.5 + distance / pixel, 0.0, 1.0)
