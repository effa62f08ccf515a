"""Shapes with soft edges: how much of each pixel a polygon or an ellipse covers.

Every pixel is looked at in 4 x 4 places, so a coverage is a multiple of 1/16 and no machine rounds it
another way. Places are (row, column) in pixels, the image's top left corner being (0, 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from skimage.draw import ellipse as ellipse_places
from skimage.draw import polygon as polygon_places

from salgen.types import Float64

FINE = 4  # places per pixel along each axis

Colour = Sequence[float] | Float64


def polygon(corners: Sequence[Sequence[float]] | Float64, image_size: tuple[int, int]) -> Float64:
    """Coverage of a polygon, float64 (H, W) in [0, 1].

    Parameters
    ----------
    corners
        (row, column) of each; what lies outside the image is cut off.
    image_size
        (H, W) in pixels.
    """
    rows, columns = np.asarray(corners, dtype=np.float64).T * FINE - 0.5
    return _coverage(polygon_places(rows, columns, _fine(image_size)), image_size)


def ellipse(
    centre: Sequence[float], radii: Sequence[float], image_size: tuple[int, int], rotation: float = 0.0
) -> Float64:
    """Coverage of an ellipse, float64 (H, W) in [0, 1].

    Parameters
    ----------
    centre, radii
        (row, column) and (along rows, along columns), in pixels.
    rotation
        Radians.
    """
    row, column = (place * FINE - 0.5 for place in centre)
    down, across = (radius * FINE for radius in radii)
    return _coverage(ellipse_places(row, column, down, across, _fine(image_size), rotation), image_size)


def stroke(points: Sequence[Sequence[float]], width: float, image_size: tuple[int, int]) -> Float64:
    """Coverage of a line through points with round joints and ends, float64 (H, W) in [0, 1]."""
    places = np.asarray(points, dtype=np.float64)
    covered = np.zeros(image_size)
    for place in places:
        covered = np.maximum(covered, ellipse(place, (width / 2, width / 2), image_size))
    for start, end in pairwise(places):
        along = end - start
        length = float(np.sqrt((along**2).sum()))
        if length:
            aside = np.array([-along[1], along[0]]) * (width / 2 / length)
            corners = np.stack([start + aside, end + aside, end - aside, start - aside])
            covered = np.maximum(covered, polygon(corners, image_size))
    return covered


def paint(canvas: Float64, colour: Colour, coverage: Float64) -> None:
    """Lay a colour (3,), or a picture of them (H, W, 3), over a canvas (H, W, 3) in place, as far as it is covered."""
    share = coverage[..., np.newaxis]
    canvas += share * (np.asarray(colour, dtype=np.float64) - canvas)


def _fine(image_size: tuple[int, int]) -> tuple[int, int]:
    return image_size[0] * FINE, image_size[1] * FINE


def _coverage(places: tuple[NDArray[np.int64], NDArray[np.int64]], image_size: tuple[int, int]) -> Float64:
    fine = np.zeros(_fine(image_size), dtype=np.uint8)
    fine[places] = 1
    height, width = image_size
    counts = fine.reshape(height, FINE, width, FINE).sum(axis=(1, 3), dtype=np.int64)
    return np.asarray(counts / FINE**2)
