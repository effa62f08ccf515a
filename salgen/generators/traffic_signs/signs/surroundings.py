"""The surroundings of a traffic sign: a piece of a photograph, sky and trees, and the sign's post."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image
from scipy.ndimage import uniform_filter1d

from salgen.generators.drawing.pictures import Pixels
from salgen.generators.drawing.shapes import paint
from salgen.generators.drawing.splines import smooth_field
from salgen.seeding import Stream
from salgen.types import Float64

PANELS = 0.12  # share of scenes with a bright green man-made panel


def surroundings(parameters: Mapping[str, Any], photograph: Pixels, side: int) -> Float64:
    """The scene behind a sign, float64 (side, side, 3): a photograph, sky over it, trees, a post."""
    canvas = _cut(parameters, photograph, side) * (parameters["photograph_gain"] / 255.0)
    _put_sky(canvas, parameters, side)
    _put_foliage(canvas, parameters, side)
    if parameters["panel"] < PANELS:
        _put_panel(canvas, parameters, side)
    canvas = box(box(canvas, max(side // 14, 1), 0), max(side // 14, 1), 1)  # out of focus behind the sign
    _put_post(canvas, parameters, side)
    return canvas


def _cut(parameters: Mapping[str, Any], photograph: Pixels, side: int) -> Float64:
    """A square piece of a photograph, resized to the scene."""
    height, width = photograph.shape[:2]
    piece = round(parameters["crop_share"] * min(height, width))
    top, left = (
        int(parameters[f"crop_{axis}"] * (size - piece)) for axis, size in (("row", height), ("column", width))
    )
    cut = Image.fromarray(photograph[top : top + piece, left : left + piece])
    return np.asarray(cut.resize((side, side), Image.Resampling.BILINEAR), dtype=np.float64)


def _put_sky(canvas: Float64, parameters: Mapping[str, Any], side: int) -> None:
    rows, _ = places(side)
    edge = smooth_field(Stream.from_key(parameters["fields"], "skyline"), (1, side), (1, 5))
    depth = parameters["skyline"] + 0.35 * edge - rows
    blue, light = parameters["sky_blue"], parameters["sky"]
    colour = np.array([light * (1.0 - 1.3 * blue), light * (1.0 - 0.6 * blue), light])
    paint(canvas, colour * (1.0 - 0.15 * rows[..., np.newaxis]), (depth * 12.0).clip(0.0, 1.0))


def _put_foliage(canvas: Float64, parameters: Mapping[str, Any], side: int) -> None:
    """Paint trees and hedges, green or withered, by a smooth field and mostly low in the scene."""
    growth = smooth_field(Stream.from_key(parameters["fields"], "trees"), (side, side), (3, 3))
    rows, _ = places(side)
    cover = ((parameters["foliage"] + 1.2 * growth + 0.7 * (rows - 0.5)) * 9.0).clip(0.0, 1.0)
    leaves = smooth_field(Stream.from_key(parameters["fields"], "leaves"), (side, side), (14, 14))
    clumps = smooth_field(Stream.from_key(parameters["fields"], "clumps"), (side, side), (5, 5))
    light = parameters["foliage_light"] * (0.55 + 0.6 * leaves + 0.5 * clumps).clip(0.05, 1.0)
    green = parameters["foliage_green"]
    colour = np.array([0.72 - 0.27 * green, 0.62 + 0.08 * green, 0.45 - 0.22 * green])
    paint(canvas, light[..., np.newaxis] * colour, cover)


def _put_panel(canvas: Float64, parameters: Mapping[str, Any], side: int) -> None:
    """Paint a bright green rectangle: a container, an advertisement, another sign."""
    rows, columns = places(side)
    inside = (abs(rows - parameters["panel_row"]) < 0.16) & (abs(columns - parameters["panel_column"]) < 0.2)
    green = parameters["panel_green"]
    paint(canvas, (0.2 * green, green, 0.32 * green), inside.astype(np.float64))


def _put_post(canvas: Float64, parameters: Mapping[str, Any], side: int) -> None:
    rows, columns = places(side)
    across = (columns - parameters["column"] - 0.3 * parameters["turn"]) / parameters["post"]
    cover = ((0.5 - abs(across)) * parameters["post"] * side + 0.5).clip(0.0, 1.0) * (rows > parameters["row"])
    paint(canvas, (0.34 + 0.3 * (0.5 - across)).clip(0.0, 1.0)[..., np.newaxis] * np.array([1.0, 1.0, 1.03]), cover)


def box(canvas: Float64, width: int, axis: int) -> Float64:
    """The mean over a run of pixels along an axis; the outermost pixels are repeated beyond the edge."""
    return canvas if width == 1 else np.asarray(uniform_filter1d(canvas, width, axis=axis, mode="nearest"))


@lru_cache(maxsize=128)
def places(side: int) -> tuple[Float64, Float64]:
    """Row and column of each pixel's centre, float64 (side, side), in sides of the scene."""
    rows, columns = (np.indices((side, side)) + 0.5) / side
    rows.setflags(write=False)
    columns.setflags(write=False)
    return rows, columns
