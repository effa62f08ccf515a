"""Rooms in perspective and the ground under the sky, pixel by pixel.

A pixel on a plane is at the scale s (one over its depth): on the floor s grows from 0 at the eye's height to 1 at the
image's lower edge, and so towards the other three edges for ceiling and walls; a room ends where s is that of its back.
"""

from collections.abc import Callable
from dataclasses import dataclass
import numpy as np
from salgen.generators.stand_ins.sceneries.stage import Stage
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


# The lightness of an ink by a pixel's coordinates on its plane, a period and a stream. It fades where the pattern is
# finer than the pixels, so that it does not alias in the distance.
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
    pattern.__name__: pattern for pattern in (plain, boards, tiles, grout, bricks, furrows, stripes, ripples)
}


def _visible(reach: Float64, period: float) -> Float64:
    """1 where a period is many pixels, 0 where it is fewer than two."""
    return np.asarray(np.clip(period / np.maximum(reach, 1e-6) / 3.0 - 0.6, 0.0, 1.0))


def _lines(values: Float64, reach: Float64, period: float) -> Float64:
    """1 on lines that are a tenth of a period wide, or a pixel."""
    phase = values / period
    gap = np.abs(phase - np.floor(phase + 0.5)) * period
    return np.asarray(np.clip((0.05 * period - gap) / np.maximum(reach, 1e-6) + 1.0, 0.0, 1.0))


FARTHEST = 60.0  # depth beyond which the ground no longer changes

Cover = tuple[str, str, float]  # ink, pattern, period


def room(
    stage: Stage,
    *,
    depth: float,
    floor: Cover,
    wall: Cover,
    ceiling: Cover,
    back: Cover | None = None,
    glow: float = 0.0,
) -> None:
    """A room that is seen along its axis, to its back wall in a depth; the back is by default like the walls.

    `glow` is the extra lightness of the far end over the near one; negative if it is darker.
    """
    rows, columns = stage.places()
    x, y = stage.eye
    scales = [(rows - y) / (1 - y), (y - rows) / y, (x - columns) / x, (columns - x) / (1 - x)]
    scales = [np.broadcast_to(scale, stage.image_size) for scale in scales]
    back_scale = np.full(stage.image_size, 1.0 / depth)
    nearest = np.maximum.reduce([*scales, back_scale])
    covers = [floor, ceiling, wall, wall, back or wall]
    lights = [0.95, 1.0, 1.08, 0.84, 0.96] if stage.mirrored else [0.95, 1.0, 0.84, 1.08, 0.96]
    total = np.zeros(stage.image_size)
    picture = np.zeros((*stage.image_size, 3))
    for number, (scale, cover, light) in enumerate(zip([*scales, back_scale], covers, lights, strict=True)):
        share = np.clip((scale - nearest) * stage.image_size[0] * 0.5 + 1.0, 0.0, 1.0)
        total += share
        tone = _tone(stage, cover, _on_plane(stage, number, np.maximum(scale, back_scale)))
        picture += (share * light * tone)[..., np.newaxis] * np.asarray(stage.ink(cover[0]).colour)
    corner = np.sort(np.stack([*scales, back_scale]), axis=0)
    occlusion = 1.0 - 0.22 * np.clip(1.0 - 7.0 * (corner[-1] - corner[-2]), 0.0, 1.0)
    lit = (1.0 + glow * (1.0 - nearest)) * occlusion
    stage.canvas = picture * (lit / total)[..., np.newaxis]


def ground(stage: Stage, *, cover: Cover, haze: float = 0.4, mirror: float = 0.0) -> None:
    """The ground from the horizon down.

    `haze` is the share of the sky's colour over it far away.
    `mirror` is the strength of the reflection of everything above the horizon, as in water.
    """
    stage.flush()
    rows, _columns = stage.places()
    _x, y = stage.eye
    scale = np.maximum((rows - y) / (1 - y), 1.0 / FARTHEST)
    tone = _tone(stage, cover, _on_plane(stage, 0, np.broadcast_to(scale, stage.image_size)))
    colour = tone[..., np.newaxis] * (np.asarray(stage.ink(cover[0]).colour) * stage.light)
    if mirror:
        height = stage.image_size[0]
        upside_down = stage.canvas[np.clip(2 * stage.row(y) - np.arange(height), 0, height - 1)]
        colour = colour + mirror * (upside_down - colour) * (1.0 - 0.5 * scale)[..., np.newaxis]
    far = (haze * (1.0 - scale) * (1.0 - scale) * (1.0 - scale))[..., np.newaxis]
    horizon = stage.mean_of_row(stage.row(y) - 1)
    colour = colour + far * (horizon - colour)
    stage.wash(colour, np.clip((rows - y) * stage.image_size[0] + 0.5, 0.0, 1.0))


def _tone(stage: Stage, cover: Cover, coordinates: Coordinates) -> Float64:
    """The lightness of an ink at each pixel of a plane, float64 (H, W)."""
    name, pattern, period = cover
    ink = stage.ink(name)
    tone = PATTERNS[pattern](coordinates, period, stage.stream) + np.zeros(stage.image_size)
    for share, texture in zip((ink.mottle, ink.grain, ink.streak), stage.textures, strict=True):
        if share:
            tone += share * texture
    return np.maximum(tone, 0.1)


def _on_plane(stage: Stage, number: int, scale: Float64) -> Coordinates:
    """Coordinates on the floor (0), the ceiling (1), the walls (2, 3) or the back (4)."""
    rows, columns = stage.places()
    height, width = stage.image_size
    x, y = stage.eye
    depth = 1.0 / np.maximum(scale, 1.0 / FARTHEST)
    across = x + (columns - x) * depth if number in (0, 1, 4) else y + (rows - y) * depth
    if number == 4:
        return Coordinates(across, y + (rows - y) * depth, depth / width, depth / height)
    span = (1 - y) * height if number == 0 else y * height if number == 1 else min(x, 1 - x) * width
    side = width if number in (0, 1) else height
    along, reach = depth, depth * depth / max(span, 1.0)
    if number in (2, 3):  # on a wall boards stand upright and courses lie level
        return Coordinates(along, across, reach, depth / side)
    return Coordinates(across, along, depth / side, reach)
