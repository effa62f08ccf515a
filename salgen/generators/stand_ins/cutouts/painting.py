"""Cutouts of COCO's classes: a posed sketch becomes pixels by coverage, shading, texture and marking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.drawing.choices import Choices
from salgen.generators.drawing.shapes import polygons, window_around
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.stand_ins.cutouts.sketch import Part, Sketch, posed
from salgen.generators.stand_ins.cutouts.skins import BASES, COMMON, MATERIALS, PALETTES, Skin, marking, read_skins
from salgen.seeding import Stream
from salgen.types import Float64

CHOICES = 256  # more than any sketch needs


@dataclass(frozen=True, eq=False)
class Surface:
    """The look of a skin on one object."""

    tint: Float64  # float64 (3,) in [0, 1]
    gloss: float  # strength of its highlights
    texture: Float64  # factor of the brightness, float64 (H, W)
    # second, share: the colour (3,) of its marking and the marking's share of each pixel (H, W); None without one
    second: Float64 | None = None
    share: Float64 | None = None


@dataclass(eq=False)
class Canvas:
    """A picture in progress."""

    colour: Float64  # float64 (H, W, 3), already multiplied by alpha
    alpha: Float64  # float64 (H, W) in [0, 1]
    light: tuple[float, float]  # direction that the light comes from, (right, down)
    # of the skins used so far
    surfaces: dict[str, Surface] = field(default_factory=dict)


def painted(sketch: Sketch, stream: Stream, side: int) -> NDArray[np.uint8]:
    """One object, uint8 (h, w, 4), cropped to where alpha is above 0; its longer side has `side` pixels."""
    choices = Choices(stream, CHOICES)
    light = (choices.between(-0.9, 0.9), -choices.between(0.35, 0.9))
    parts, size = posed(sketch, side, choices)
    skins = {**COMMON, **sketch.skins}
    canvas = Canvas(np.zeros((*size, 3)), np.zeros(size), light)
    used = {part.tint for part, _ in parts}
    tints = _tints(skins, used, choices)
    for name in (name for name in tints if name in used):
        canvas.surfaces[name] = _surface(skins[name], tints[name], tints, size, stream, choices)
    for part, corners in parts:
        _paint_part(canvas, part, corners)
    _light_all(canvas, stream, choices)
    return _sized(_levels(canvas), side)


def _tints(skins: Mapping[str, Skin], used: set[str], choices: Choices) -> dict[str, Float64]:
    """A colour for each skin that is used, in the order of the skins."""
    needed = used | {mark.tint for name in used if (mark := skins[name].marking)}
    for _ in range(2):  # a skin that another refers to may itself refer to one
        needed |= {base for name in needed for base in (skins[name].like, skins[name].against) if base}
    tints: dict[str, Float64] = {}
    for name in (name for name in skins if name in needed):
        skin = skins[name]
        if skin.like:
            tints[name] = tints[skin.like]
        elif skin.against:
            tints[name] = _contrast(tints[skin.against], skin.palette, choices)
        else:
            tints[name] = _colour(skin.palette, choices)
    return tints


def _contrast(tint: Float64, palette: str, choices: Choices) -> Float64:
    """The one of four colours of a palette that differs most from a tint."""
    candidates = [_colour(palette, choices) for _ in range(4)]
    return max(candidates, key=lambda candidate: float(np.abs(candidate - tint).sum()))


def _colour(palette: str, choices: Choices) -> Float64:
    """A mixture of two colours of a palette, mostly of the first, a little lighter or darker."""
    first, second = (np.array(choices.of(PALETTES[palette])) / 255.0 for _ in range(2))
    share = choices.between(0.0, 0.35)
    return np.asarray((first + share * (second - first)) * choices.between(0.82, 1.12))


def _surface(
    skin: Skin, tint: Float64, tints: Mapping[str, Float64], size: tuple[int, int], stream: Stream, choices: Choices
) -> Surface:
    material = MATERIALS[skin.material]
    gloss = material.get("gloss", 0.0)
    texture = np.ones(size)
    for down, across, strength in material["fields"]:
        texture += strength * smooth_field(stream, size, (down, across))
    mark = skin.marking
    if mark is None or not choices.chance(mark.chance):
        return Surface(tint, gloss, texture)
    scale = mark.scale * choices.between(0.8, 1.25)
    return Surface(tint, gloss, texture, tints[mark.tint], marking(mark.kind, scale, size, stream))


def _paint_part(canvas: Canvas, part: Part, corners: Float64) -> None:
    """Paint a part over the canvas, in the smallest window that holds it."""
    rows, columns = window = window_around(corners, canvas.colour.shape[:2])
    size = rows.stop - rows.start, columns.stop - columns.start
    if min(size) <= 0:
        return
    share = polygons(corners - (rows.start, columns.start), [len(outline) for outline in part.outlines], size)
    middle, half = (corners.max(axis=0) + corners.min(axis=0)) / 2, (corners.max(axis=0) - corners.min(axis=0)) / 2
    down, across = (
        (np.arange(window[axis].start, window[axis].stop) + 0.5 - middle[axis]) / max(float(half[axis]), 0.5)
        for axis in range(2)
    )
    colour = _shaded(part, canvas, window, down[:, np.newaxis], across[np.newaxis])
    uncovered = 1.0 - share
    canvas.colour[window] *= uncovered[..., np.newaxis]
    canvas.colour[window] += colour * share[..., np.newaxis]
    canvas.alpha[window] = share + canvas.alpha[window] * uncovered


def _shaded(part: Part, canvas: Canvas, window: tuple[slice, slice], down: Float64, across: Float64) -> Float64:
    """The part's colours, float64 (h, w, 3); (down, across) run from -1 to 1 over it."""
    surface, (right, below) = canvas.surfaces[part.tint], canvas.light
    facing = right * across + below * down
    tone = (part.shade * (1.04 + part.relief * (0.75 * facing - 0.3 * (down * down + across * across)))) * (
        surface.texture[window]
    )
    tint: Float64 = surface.tint
    if surface.second is not None and surface.share is not None:
        tint = tint + surface.share[window][..., np.newaxis] * (surface.second - tint)
    colour = tint * tone[..., np.newaxis]
    gloss = part.gloss + surface.gloss * min(1.0, part.relief / 0.3)
    if gloss:
        away = (down - 0.5 * below) ** 2 + (across - 0.5 * right) ** 2
        spot = np.maximum(1.0 - away / 0.3, 0.0)
        colour += (gloss * 0.6) * (spot * spot)[..., np.newaxis] * (1.0 - np.minimum(colour, 1.0))
    return np.asarray(np.clip(colour, 0.0, 1.0))


def _light_all(canvas: Canvas, stream: Stream, choices: Choices) -> None:
    """Darken the side that is turned away from the light, and give the light a colour of its own."""
    height, width = canvas.alpha.shape
    down, across = ((np.arange(size) + 0.5) * 2 / size - 1 for size in (height, width))
    right, below = canvas.light
    tone = 1.0 + 0.16 * (right * across[np.newaxis] + below * down[:, np.newaxis])
    tone += 0.12 * smooth_field(stream, (height, width), (3, 3))
    warm = choices.between(-0.06, 0.06)
    canvas.colour *= (tone * choices.between(0.8, 1.1))[..., np.newaxis] * np.array([1 + warm, 1.0, 1 - warm])


def _levels(canvas: Canvas) -> NDArray[np.uint8]:
    """The canvas with straight alpha and 8 bits per channel, uint8 (H, W, 4)."""
    alpha = canvas.alpha[..., np.newaxis]
    straight = np.clip(canvas.colour / np.where(alpha > 0, alpha, 1.0), 0.0, 1.0)
    return np.rint(np.concatenate([straight, alpha], axis=2) * 255.0).astype(np.uint8)


def _sized(pixels: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """The picture cropped tightly, and enlarged by a pixel where a thin tip was lost between two."""
    opaque = pixels[..., 3] > 0
    rows, columns = np.flatnonzero(opaque.any(axis=1)), np.flatnonzero(opaque.any(axis=0))
    cropped = np.ascontiguousarray(pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])
    height, width = cropped.shape[:2]
    if max(height, width) == side:
        return cropped
    size = (side, max(1, width * side // height)) if height >= width else (max(1, height * side // width), side)
    return np.asarray(Image.fromarray(cropped).resize(size[::-1], Image.Resampling.BILINEAR))


OBJECTS = "objects/*.json"
FIRST = ("backpack", "bird", "dog", "elephant", "kite", "pizza", "stop sign", "toilet", "truck", "zebra")  # BAM's ten
KINDS: tuple[str, ...] = (*FIRST, *sorted(catalogue(OBJECTS).keys() - set(FIRST)))


@cache
def sketch(name: str) -> Sketch:
    """The sketch of a class, from the catalogue; its skins add to those of the base that it names, if any."""
    entry = dict(catalogue(OBJECTS)[name])
    skins = {**BASES.get(entry.pop("base", ""), {}), **read_skins(entry.pop("skins", {}))}
    return Sketch(skins, entry.pop("parts"), **entry)


def cutout(name: str, stream: Stream, side: int) -> NDArray[np.uint8]:
    """An object of one of :data:`KINDS` on a transparent background, uint8 (h, w, 4), cropped tightly.

    The stream decides its form, colours, pose and light. Its longer side has `side` pixels, at least 24. Colours are
    not multiplied by alpha.
    """
    return painted(sketch(name), stream, side)
