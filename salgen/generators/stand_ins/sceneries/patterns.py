"""Patterns on planes: boards, tiles, bricks, furrows, ripples, in the coordinates of the plane.

A pattern takes the two coordinates of each pixel on its plane and the extent of a pixel along them, and returns the
lightness of the ink there. It fades where it is finer than the pixels, so that it does not alias in the distance.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from salgen.seeding import Stream
from salgen.types import Float64


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of each pixel on a plane."""

    # across, along: float64 (H, W), or of what broadcasts to it; in shares of the image at depth 1
    across: Float64
    along: Float64
    # reach_across, reach_along: their change from one pixel to the next
    reach_across: Float64
    reach_along: Float64


Pattern = Callable[[Coordinates, float, Stream], Float64]


def plain(places: Coordinates, period: float, stream: Stream) -> Float64:
    """No pattern."""
    return np.ones(1)


def boards(places: Coordinates, period: float, stream: Stream) -> Float64:
    """Boards along the depth, each of its own tone, with a dark gap between them."""
    number = np.floor(places.across / period)
    tones = stream.uniform(64, -0.16, 0.16)[number.astype(np.int64) % 64]
    return 1.0 + _visible(places.reach_across, period) * (
        tones - 0.35 * _lines(places.across, places.reach_across, period)
    )


def tiles(places: Coordinates, period: float, stream: Stream) -> Float64:
    """Light and dark squares."""
    odd = (np.floor(places.across / period) + np.floor(places.along / period)) % 2
    fade = _visible(places.reach_across, period) * _visible(places.reach_along, period)
    return 1.0 + fade * (0.42 * odd - 0.24)


def grout(places: Coordinates, period: float, stream: Stream) -> Float64:
    """Squares of one tone with lines between them."""
    across = _visible(places.reach_across, period) * _lines(places.across, places.reach_across, period)
    along = _visible(places.reach_along, period) * _lines(places.along, places.reach_along, period)
    return 1.05 - 0.28 * np.maximum(across, along)


def bricks(places: Coordinates, period: float, stream: Stream) -> Float64:
    """Courses of bricks, each of its own tone; every other course is shifted."""
    course = np.floor(places.along / (0.45 * period))
    shifted = places.across + 0.5 * period * (course % 2)
    number = np.floor(shifted / period) * 7 + course * 13
    tones = stream.uniform(64, -0.2, 0.2)[number.astype(np.int64) % 64]
    lines = np.maximum(
        _lines(shifted, places.reach_across, period), _lines(places.along, places.reach_along, 0.45 * period)
    )
    fade = _visible(places.reach_along, 0.45 * period)
    return np.asarray(1.0 + fade * (tones - 0.22 * lines))


def furrows(places: Coordinates, period: float, stream: Stream) -> Float64:
    """Ridges along the depth, light on one side."""
    phase = places.across / period
    wave = 4.0 * np.abs(phase - np.floor(phase) - 0.5) - 1.0
    return 1.0 + 0.38 * _visible(places.reach_across, period) * wave


def stripes(places: Coordinates, period: float, stream: Stream) -> Float64:
    """Bands along the depth, light and dark: mown grass, wallpaper, cloth."""
    odd = np.floor(places.across / period) % 2
    return 1.0 + _visible(places.reach_across, period) * (0.26 * odd - 0.13)


def ripples(places: Coordinates, period: float, stream: Stream) -> Float64:
    """Waves across the depth, bent and broken."""
    bend = places.along / period + 1.2 * np.abs((places.across * 2.3 + 0.31 * places.along) % 1.0 - 0.5)
    wave = 4.0 * np.abs(bend - np.floor(bend) - 0.5) - 1.0
    return 1.0 + 0.16 * _visible(places.reach_along, period) * wave


PATTERNS: dict[str, Pattern] = {
    "plain": plain,
    "boards": boards,
    "tiles": tiles,
    "grout": grout,
    "bricks": bricks,
    "furrows": furrows,
    "stripes": stripes,
    "ripples": ripples,
}


def _visible(reach: Float64, period: float) -> Float64:
    """1 where a period is many pixels, 0 where it is fewer than two."""
    return np.asarray(np.clip(period / np.maximum(reach, 1e-6) / 3.0 - 0.6, 0.0, 1.0))


def _lines(values: Float64, reach: Float64, period: float) -> Float64:
    """1 on lines that are a tenth of a period wide, or a pixel."""
    phase = values / period
    gap = np.abs(phase - np.floor(phase + 0.5)) * period
    return np.asarray(np.clip((0.05 * period - gap) / np.maximum(reach, 1e-6) + 1.0, 0.0, 1.0))
