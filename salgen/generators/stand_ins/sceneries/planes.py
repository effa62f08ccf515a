"""Rooms in perspective and the ground under the sky, pixel by pixel.

A pixel on a plane is at the scale s (one over its depth): on the floor s grows from 0 at the eye's height to 1 at the
image's lower edge, and so towards the other three edges for ceiling and walls; a room ends where s is that of its back.
"""

from dataclasses import replace

import numpy as np

from salgen.generators.stand_ins.sceneries.patterns import PATTERNS, Coordinates
from salgen.generators.stand_ins.sceneries.stage import Stage
from salgen.types import Float64

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
    """A room that is seen along its axis.

    Parameters
    ----------
    depth
        Of its back wall.
    floor, wall, ceiling, back
        Ink, pattern and period; the back is by default like the walls.
    glow
        Extra lightness of the far end over the near one; negative if it is darker.
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


def ground(stage: Stage, *, cover: Cover, haze: float = 0.4, bend: float = 0.0, mirror: float = 0.0) -> None:
    """The ground from the horizon down.

    Parameters
    ----------
    cover
        Ink, pattern and period.
    haze
        Share of the sky's colour over it far away.
    bend
        Shift of its pattern to the right at depth 2.
    mirror
        Strength of the reflection of everything above the horizon, as in water.
    """
    stage.flush()
    rows, _columns = stage.places()
    _x, y = stage.eye
    scale = np.maximum((rows - y) / (1 - y), 1.0 / FARTHEST)
    straight = _on_plane(stage, 0, np.broadcast_to(scale, stage.image_size))
    across = straight.across - bend * (straight.along - 1.0) * (straight.along - 1.0)
    tone = _tone(stage, cover, replace(straight, across=across))
    colour = tone[..., np.newaxis] * (np.asarray(stage.ink(cover[0]).colour) * stage.light)
    if mirror:
        colour = colour + mirror * (_upside_down(stage) - colour) * (1.0 - 0.5 * scale)[..., np.newaxis]
    far = (haze * (1.0 - scale) * (1.0 - scale) * (1.0 - scale))[..., np.newaxis]
    horizon = stage.mean_of_row(stage.row(y) - 1)
    colour = colour + far * (horizon - colour)
    stage.wash(colour, np.clip((rows - y) * stage.image_size[0] + 0.5, 0.0, 1.0))


def _upside_down(stage: Stage) -> Float64:
    """The canvas mirrored at the horizon, float64 (H, W, 3)."""
    height = stage.image_size[0]
    return stage.canvas[np.clip(2 * stage.row(stage.eye[1]) - np.arange(height), 0, height - 1)]


def _tone(stage: Stage, cover: Cover, coordinates: Coordinates) -> Float64:
    """The lightness of an ink at each pixel of a plane, float64 (H, W)."""
    name, pattern, period = cover
    ink = stage.ink(name)
    tone = PATTERNS[pattern](coordinates, period, stage.stream) + np.zeros(stage.image_size)
    for share, texture in zip((ink.mottle, ink.grain, ink.streak), stage.textures(), strict=True):
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
