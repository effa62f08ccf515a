"""Streets behind a traffic light: by day cut from a photograph, by night with lights out of focus."""

from collections.abc import Mapping, Sequence
from typing import Any
import numpy as np
from salgen.generators.drawing.photographs import Photographs, of_split
from salgen.generators.drawing.pictures import Pixels, resize_rgb
from salgen.generators.drawing.shapes import paint
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.generator import to_levels
from salgen.generators.interfaces import Context
from salgen.seeding import Stream
from salgen.types import Float64

SKIES = ((0.50, 0.66, 0.86), (0.80, 0.84, 0.88), (0.62, 0.66, 0.70), (0.88, 0.80, 0.70))  # clear, hazy, grey, evening
LEAVES = (0.16, 0.22, 0.12)
# lamps of streets and windows: no hue
LAMPS = ((1.0, 0.86, 0.60), (1.0, 0.68, 0.32), (0.92, 0.95, 1.0), (1.0, 0.78, 0.45))
REDS = ((0.86, 0.10, 0.08), (0.70, 0.14, 0.10))  # tail light, awning
GREENS = ((0.10, 0.78, 0.36), (0.20, 0.46, 0.16))  # neon, tree
POINTS = 14  # lights out of focus, at most


def draw_street(context: Context, left: float, right: float) -> dict[str, Any]:
    """The choices of a street; nothing red or green may be between two columns, those of the lamp, in image widths."""
    names = of_split(context.material, context.split)
    stream = context.stream("street")
    night, photograph, sky, count = (int(stream.integers(high, 1)[0]) for high in (2, len(names), len(SKIES), 4))
    return {
        "night": night,
        "photograph": names[photograph],
        "crop": stream.uniform(5).tolist(),
        "sky": sky,
        "horizon": float(stream.uniform(1, -0.1, 1.2)[0]),
        "exposure": float(stream.uniform(1, 0.55, 1.05)[0]),
        "fields": stream.key(),
        "coloured": [
            _draw_coloured(context.stream("coloured", key=4 * context.index + k), left, right) for k in range(count)
        ],
    }


def street(choices: Mapping[str, Any], photographs: Photographs, image_size: tuple[int, int]) -> Float64:
    """The street, a new float64 (H, W, 3) in [0, 1]."""
    canvas = _blurred_crop(photographs.load(choices["photograph"]), choices["crop"], image_size)
    fields = Stream.from_key(choices["fields"], "street")
    if choices["night"]:
        _darken(canvas, choices, fields)
        _paint_points(canvas, fields)
    else:
        canvas *= choices["exposure"]
    for distractor in choices["coloured"]:
        _paint_coloured(canvas, distractor, choices["night"])
    if not choices["night"]:
        _paint_sky(canvas, choices, fields)
    return canvas


def soft_disc(image_size: tuple[int, int], centre: Sequence[float], radius: float, rim: float) -> Float64:
    """Coverage of a disc whose edge is `rim` wide, float64 (H, W); lengths in the image's shorter side."""
    unit = min(image_size)
    rows = ((np.arange(image_size[0]) + 0.5) - centre[0] * image_size[0])[:, np.newaxis] / unit
    columns = ((np.arange(image_size[1]) + 0.5) - centre[1] * image_size[1])[np.newaxis] / unit
    return np.asarray(np.clip((radius - np.sqrt(rows * rows + columns * columns)) / rim + 0.5, 0.0, 1.0))


def seen_by_camera(canvas: Float64, pixels: int, noise: float, key: int) -> Float64:
    """A canvas as a camera sees it: `pixels` along the shorter side, with sensor noise; float64 (H, W, 3)."""
    image_size = (canvas.shape[0], canvas.shape[1])
    share = min(1.0, pixels / min(image_size))
    small = (max(1, round(image_size[0] * share)), max(1, round(image_size[1] * share)))
    seen = to_levels(canvas, 8)
    seen = resize_rgb(seen, small) if small != image_size else seen
    grain = Stream.from_key(key, "grain").uniform(seen.size, -noise, noise).reshape(seen.shape)
    seen = to_levels(np.clip(seen / 255.0 + grain, 0.0, 1.0), 8)
    return np.asarray((resize_rgb(seen, image_size) if small != image_size else seen) / 255.0)


def _draw_coloured(stream: Stream, left: float, right: float) -> list[float | int]:
    """Draw a red or green distractor beside the lamp: kind, hue, row, column, size, tone."""
    kind, hue, on_right = (int(choice) for choice in stream.integers(4, 3))
    size, row, place, tone = stream.uniform(4).tolist()
    radius = 0.02 + 0.045 * size
    reach = 3.4 * radius + 0.03  # the widest kind's, as a coarse camera sees it
    low, high = (min(1.0, right + reach), 1.0) if on_right % 2 else (0.0, max(0.0, left - reach))
    return [kind, hue % 2, 0.4 + 0.6 * row, low + (high - low) * place, radius, 0.7 + 0.3 * tone if kind == 2 else tone]


def _blurred_crop(photograph: Pixels, crop: Sequence[float], image_size: tuple[int, int]) -> Float64:
    """A part of the photograph, out of focus, float64 (H, W, 3)."""
    place_row, place_column, extent, focus, mirror = crop
    high, wide = photograph.shape[:2]
    scale = (0.3 + 0.6 * extent) * min(high / image_size[0], wide / image_size[1])
    rows, columns = (max(2, int(side * scale)) for side in image_size)
    top, left = int(place_row * (high - rows)), int(place_column * (wide - columns))
    part = photograph[top : top + rows, left : left + columns]
    part = part[:, ::-1] if mirror < 0.5 else part
    fine = 14 + int(50 * focus)
    small = tuple(max(2, min(side, side * fine // min(image_size))) for side in image_size)
    return resize_rgb(resize_rgb(np.ascontiguousarray(part), (small[0], small[1])), image_size) / 255.0


def _paint_sky(canvas: Float64, choices: Mapping[str, Any], fields: Stream) -> None:
    """Paint sky above a line of trees and roofs; none where the horizon is above the image."""
    image_size = (canvas.shape[0], canvas.shape[1])
    rows = ((np.arange(image_size[0]) + 0.5) / image_size[0])[:, np.newaxis]
    edge = 0.22 * smooth_field(fields, image_size, (4, 5)) + 0.10 * smooth_field(fields, image_size, (14, 14))
    above = choices["horizon"] + edge - rows
    leaves = smooth_field(fields, image_size, (20, 20))[..., np.newaxis] * 0.10 + 1.0 * np.asarray(LEAVES)
    paint(canvas, np.clip(leaves, 0.0, 1.0), np.clip(0.7 - np.abs(above + 0.10) / 0.16, 0.0, 0.8))
    pale = (0.12 * rows)[..., np.newaxis]
    sky = np.clip(np.asarray(SKIES[choices["sky"]]) * (0.80 + 0.25 * choices["exposure"]) + pale, 0.0, 1.0)
    paint(canvas, np.broadcast_to(sky, canvas.shape), np.clip(above / 0.05 + 0.5, 0.0, 1.0))


def _darken(canvas: Float64, choices: Mapping[str, Any], fields: Stream) -> None:
    """Turn the picture into night: dark, with a glow from below."""
    image_size = (canvas.shape[0], canvas.shape[1])
    canvas *= np.asarray((0.14, 0.13, 0.15)) * choices["exposure"]
    rows = ((np.arange(image_size[0]) + 0.5) / image_size[0])[:, np.newaxis]
    glow = 0.03 + 0.09 * rows * rows + 0.05 * smooth_field(fields, image_size, (3, 3))
    canvas += np.clip(glow, 0.0, 1.0)[..., np.newaxis] * np.asarray((0.9, 0.75, 0.62))


def _paint_points(canvas: Float64, fields: Stream) -> None:
    """Paint distant lamps and windows out of focus: discs of light with a brighter rim."""
    image_size = (canvas.shape[0], canvas.shape[1])
    count, spread = 4 + int(fields.integers(POINTS - 3, 1)[0]), float(fields.uniform(1)[0])
    hues = fields.integers(len(LAMPS), POINTS)
    for row, column, size, strength, hue in zip(*fields.uniform(4 * POINTS).reshape(4, POINTS), hues, strict=True):
        if count == 0:
            break
        count -= 1
        radius = (0.012 + 0.045 * spread) * (0.6 + 0.8 * size)
        place = (1.0 - 0.95 * row * row, column)
        disc = soft_disc(image_size, place, radius, 0.012 + 0.2 * radius)
        bright = disc * (1.0 - 0.25 * soft_disc(image_size, place, radius * 0.8, radius * 0.4))
        paint(canvas, LAMPS[hue], bright * (0.15 + 0.75 * strength * strength))


def _paint_coloured(canvas: Float64, distractor: Sequence[float | int], night: int) -> None:
    """Paint a pair of tail lights, a strip of neon, a blob of leaves or cloth, or a single lamp, red or green."""
    kind, hue, row, column, radius, tone = distractor
    image_size = (canvas.shape[0], canvas.shape[1])
    ends = GREENS if hue else REDS
    colour = np.asarray(ends[0]) * (1.0 - tone) + np.asarray(ends[1]) * tone
    strength = 0.85 if kind != 2 else 0.75 if not night else 0.3
    if kind == 0:
        places, size = [(row, column - 2.0 * radius), (row, column + 2.0 * radius)], radius
    elif kind == 1:
        places, size = [(row, column + radius * step) for step in np.arange(-2.0, 2.5, 0.5)], 0.4 * radius
    else:
        places, size = [(row, column)], (2.6 if kind == 2 else 1.2) * radius
    cover = np.zeros(image_size)
    for place in places:
        cover = np.maximum(cover, soft_disc(image_size, place, size, 0.012 + 0.6 * size))
    paint(canvas, colour, cover * strength)
