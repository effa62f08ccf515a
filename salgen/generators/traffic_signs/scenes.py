"""Crops of street scenes around a drawn traffic sign: surroundings, perspective, light, blur and noise.

A scene is drawn at the resolution at which a camera in a car sees a sign from afar, and then enlarged, as the crops
of the German benchmark are. Its look therefore does not depend on the image size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
import numpy as np
from scipy.ndimage import uniform_filter1d
from salgen.generators.drawing.photographs import Photographs, of_split
from salgen.generators.drawing.pictures import Pixels, resize_rgb
from salgen.generators.drawing.shapes import paint
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.generator import to_levels
from salgen.generators.interfaces import Context
from salgen.generators.traffic_signs.pictures import REACH, SIGNS, sign_picture
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
    return resize_rgb(photograph[top : top + piece, left : left + piece], (side, side)).astype(np.float64)


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


SMALLEST, LARGEST = 36, 128  # pixels of a scene's side

# Bounds of the parameters that are drawn uniformly; lengths are in sides of the scene
BOUNDS: dict[str, tuple[float, float]] = {
    "detail": (0.0, 1.0),
    "crop_row": (0.0, 1.0),
    "crop_column": (0.0, 1.0),
    "crop_share": (0.2, 0.6),
    "photograph_gain": (0.5, 1.1),
    "skyline": (-0.2, 1.1),
    "sky": (0.55, 1.0),
    "sky_blue": (0.0, 0.3),
    "foliage": (-0.55, 0.55),
    "foliage_green": (0.0, 1.0),
    "foliage_light": (0.25, 0.9),
    "post": (0.07, 0.12),
    "row": (0.46, 0.53),
    "column": (0.47, 0.53),
    "radius": (0.36, 0.44),
    "turn": (-0.05, 0.05),
    "narrow": (0.8, 1.0),
    "shear": (-0.08, 0.08),
    "recede_row": (-0.08, 0.08),
    "recede_column": (-0.12, 0.12),
    "fading": (0.0, 0.35),
    "dirt": (0.0, 0.3),
    "gain": (0.4, 1.15),
    "haze": (0.0, 0.16),
    "warmth": (-0.1, 0.1),
    "slope_row": (-0.25, 0.25),
    "slope_column": (-0.25, 0.25),
    "shadow": (-2.4, 0.55),
    "shadow_lean": (-1.0, 1.0),
    "shadow_depth": (0.45, 0.75),
    "defocus": (0.0, 1.0),
    "motion": (-1.0, 1.0),
    "noise": (0.004, 0.03),
    "panel": (0.0, 1.0),
    "panel_row": (0.0, 1.0),
    "panel_column": (0.0, 1.0),
    "panel_green": (0.35, 0.9),
}


@dataclass(frozen=True, eq=False)
class SignScenes:
    """Drawn scenes with surroundings from photographs."""

    source: Photographs  # the photographs

    def available(self) -> None:
        """Do nothing: any number of scenes can be drawn."""

    def draw(self, context: Context) -> dict[str, Any]:
        """The choices of one scene: two consecutive samples share a sign class, and 43 pairs have each class once."""
        block, place = divmod(context.index // 2, SIGNS)
        names = of_split(self.source, context.split)
        photograph = names[int(context.stream("photograph").integers(len(names), 1)[0])]
        uniform = context.stream("scene").uniform(len(BOUNDS))
        values = {
            name: float(low + (high - low) * u) for (name, (low, high)), u in zip(BOUNDS.items(), uniform, strict=True)
        }
        sign_class = int(context.stream("sign class", key=block).permutation(SIGNS)[place])
        return {"sign_class": sign_class, "photograph": photograph, "fields": context.stream("fields").key(), **values}

    def track(self, parameters: Mapping[str, Any]) -> None:
        """None: each sign is drawn by itself."""

    def picture(self, parameters: Mapping[str, Any], image_size: tuple[int, int]) -> Pixels:
        """The scene, uint8 (H, W, 3)."""
        side = side_of(parameters)
        canvas = surroundings(parameters, self.source.load(parameters["photograph"]), side)
        _put_sign(canvas, parameters, side)
        _light(canvas, parameters, side)
        seen = blurred(canvas, parameters, side)
        grain = Stream.from_key(parameters["fields"], "noise").normal(seen.size).reshape(seen.shape)
        seen += parameters["noise"] * grain
        return resize_rgb(to_levels(seen.clip(0.0, 1.0), 8), image_size)


def side_of(parameters: Mapping[str, Any]) -> int:
    """The side of a scene in pixels; small scenes are as likely as large ones in proportion."""
    detail = parameters["detail"]
    return int(SMALLEST + (LARGEST - SMALLEST) * detail * (0.4 + 0.6 * detail))


def blurred(canvas: Float64, parameters: Mapping[str, Any], side: int) -> Float64:
    """A canvas never quite sharp, out of focus, and for one scene in four blurred by motion along rows or columns."""
    for axis in (0, 1):
        canvas = uniform_filter1d(uniform_filter1d(canvas, 2, axis=axis), 2, axis=axis, origin=-1)
    focus = 2 * round(0.018 * side * parameters["defocus"] ** 2) + 1
    for axis in (0, 1, 0, 1):
        canvas = box(canvas, focus, axis)
    moved = parameters["motion"]
    if abs(moved) > 0.75:
        canvas = box(canvas, 2 * round(0.16 * side * (abs(moved) - 0.7)) + 1, int(moved > 0.0))
    return canvas


def _put_sign(canvas: Float64, parameters: Mapping[str, Any], side: int) -> None:
    """Paint the sign as the camera sees it, faded by the sun and with dirt on it."""
    seen = warped(sign_picture(parameters["sign_class"]), parameters, side) / 255.0
    cover = seen[..., 3:]
    fading = parameters["fading"]
    dirt = smooth_field(Stream.from_key(parameters["fields"], "dirt"), (side, side), (6, 6))[..., np.newaxis]
    front = seen[..., :3] * (1.0 - fading) + fading * 0.62 * cover
    canvas *= 1.0 - cover
    canvas += front * (1.0 - parameters["dirt"] * (0.5 + dirt).clip(0.0, 1.0))


def warped(levels: Sequence[Pixels], parameters: Mapping[str, Any], side: int) -> Float64:
    """A sign in perspective, float64 (side, side, 4) in levels: colours times coverage, and coverage.

    Interpolated bilinearly between the four nearest pixels of the sign's picture.
    """
    radius = parameters["radius"] * side
    source = next(
        level for level in reversed(levels) if level is levels[0] or level.shape[0] * REACH / 2 >= 0.62 * radius
    )
    u, v = _on_sign(parameters, side)
    size = source.shape[0]
    x, y = (((place * REACH + 1.0) * (size / 2) - 0.5).clip(0.0, size - 1.001) for place in (u, v))
    left, top = x.astype(np.int64), y.astype(np.int64)
    right, down = (x - left)[..., np.newaxis], (y - top)[..., np.newaxis]
    flat, first = source.reshape(-1, 4), top * size + left
    above = flat[first] * (1.0 - right) + flat[first + 1] * right
    below = flat[first + size] * (1.0 - right) + flat[first + size + 1] * right
    return np.asarray(above * (1.0 - down) + below * down)


def _on_sign(parameters: Mapping[str, Any], side: int) -> tuple[Float64, Float64]:
    """Each pixel's position (x, y) on the plane of the sign, whose radius there is 1."""
    rows, columns = places(side)
    down, across = ((at - parameters[name]) / parameters["radius"] for at, name in ((rows, "row"), (columns, "column")))
    half = parameters["turn"]  # the tangent of half the angle
    cosine, sine = (1.0 - half * half) / (1.0 + half * half), 2.0 * half / (1.0 + half * half)
    distance = 1.0 + parameters["recede_row"] * down + parameters["recede_column"] * across
    x = (cosine * across + sine * down) / parameters["narrow"] + parameters["shear"] * down
    y = cosine * down - sine * across
    return x / distance, y / distance


def _light(canvas: Float64, parameters: Mapping[str, Any], side: int) -> None:
    """Apply exposure, the colour of the light, its fall-off, a shadow across the scene, and haze."""
    rows, columns = places(side)
    slope = 1.0 + parameters["slope_row"] * (rows - 0.5) + parameters["slope_column"] * (columns - 0.5)
    beyond = ((columns - 0.5 + parameters["shadow_lean"] * (rows - 0.5) + parameters["shadow"]) * 14.0).clip(0.0, 1.0)
    gain = parameters["gain"] * slope * (1.0 - (1.0 - parameters["shadow_depth"]) * beyond)
    warmth = parameters["warmth"]
    canvas *= gain[..., np.newaxis] * np.array([1.0 + warmth, 1.0, 1.0 - warmth])
    canvas *= 1.0 - parameters["haze"]
    canvas += parameters["haze"] * min(parameters["gain"], 0.9)
