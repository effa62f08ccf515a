"""Sketches: the parts and skins of a class of objects; and the pose of one of them.

Sketches are read from the rows of a catalogue. A sketch has its own coordinates: x to the right, y downwards, in any
unit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
import numpy as np
from salgen.generators.drawing.catalogue import read_row
from salgen.generators.drawing.choices import Choices
from salgen.generators.drawing.outlines import SHAPES, Outlines, turned
from salgen.generators.stand_ins.cutouts.skins import Skin
from salgen.types import Float64


@dataclass(frozen=True, eq=False)
class Part:
    """Outlines that are filled together."""

    # (x, y) of each corner, float64 (N, 2) each; an outline that runs the opposite way round is a hole
    outlines: tuple[Float64, ...]
    tint: str  # the name of one of the sketch's skins, or of a common one
    shade: float = 1.0  # factor of its brightness
    relief: float = 0.3  # roundness of its shading; 0 is flat
    gloss: float = 0.0  # strength of a highlight


Rows = Sequence[Any]


def legs(tint: str, hoof: str, places: str, hip: float, knee: float, ground: float, width: float) -> Rows:
    """Legs that taper to a hoof; the first half of the places (x of each) are the far ones."""
    columns = [float(place) for place in places.split()]
    rows = []
    for number, x in enumerate(columns):
        far_side = number < len(columns) // 2
        half, back, foot = width / 2, 0.25 * width, ground - width * 0.5
        front, rear = f"{x + half * 0.8},{ground}", f"{x - half * 0.8},{ground}"
        leg = (
            f"{x - half * 1.5},{hip} {x + half * 1.4},{hip} {x + half},{knee} {front} {front} {rear} {rear} "
            f"{x - half - back},{knee}"
        )
        shoe = f"{x - half * 0.9},{foot} {x + half * 0.9},{foot} {x + half * 1.15},{ground} {x - half},{ground}"
        shades = (0.66, 0.66) if far_side else (0.92, 0.9)
        rows.append(
            [
                *("swing", x, hip + 0.2 * (knee - hip), 0.1),
                ["blob", tint, leg, {"shade": shades[0]}],
                ["poly", hoof, shoe, {"shade": shades[1]}],
            ]
        )
    return rows


def eye(x: float, y: float, radius: float) -> Rows:
    """A dark eye with a glint."""
    glint = f"{x + radius * 0.3},{y - radius * 0.3}"
    return [["dots", "ink", radius, f"{x},{y}"], ["dots", "white", radius * 0.35, glint]]


def wheel(x: float, y: float, radius: float, hub: float = 0.55) -> Rows:
    """A tyre with a hub."""
    sizes = {"rubber": radius, "steel": radius * hub, "ink": radius * hub * 0.3}
    return [["dots", tint, size, f"{x},{y}"] for tint, size in sizes.items()]


def spoked(x: float, y: float, radius: float) -> Rows:
    """A thin tyre with spokes and gaps between them."""
    inner = radius * 0.92
    ends = ((1, 0), (0.866, 0.5), (0.5, 0.866), (0, 1), (-0.5, 0.866), (-0.866, 0.5))
    spokes = " / ".join(f"{x - inner * i},{y - inner * j} {x + inner * i},{y + inner * j}" for i, j in ends)
    return [
        ["line", "steel", 0.8, spokes],
        ["ring", "rubber", x, y, radius, radius, radius * 0.2],
        ["ring", "steel", x, y, radius * 0.82, radius * 0.82, radius * 0.06],
        ["dots", "steel", radius * 0.12, f"{x},{y}", {"shade": 0.7}],
    ]


ASSEMBLIES: dict[str, Callable[..., Rows]] = {part.__name__: part for part in (legs, eye, wheel, spoked)}


BEYOND = 0.2  # pixels that the ends of the longer side lie outside, so that they are seen in the border pixels


@dataclass(frozen=True, eq=False)
class Sketch:
    """The skins, parts and proportions of a class of objects."""

    skins: Mapping[str, Skin]  # their colours and materials, by the names that the parts use
    parts: Rows  # from the back to the front, see `_chosen`
    give: float = 1.0  # variation of the proportions: 1 for soft or living objects, less for rigid ones
    lean: float = 0.05  # the most that the tangent of half the angle of its turn may be
    mirrored: bool = True  # whether left and right may be exchanged


def posed(sketch: Sketch, side: int, choices: Choices) -> tuple[list[tuple[Part, Float64]], tuple[int, int]]:
    """An object with its own proportions, turn and lean, its longer side a little more than `side` pixels.

    Returns its parts from the back to the front, each with the (row, column) of its corners in pixels, float64 (N, 2),
    and the size (H, W) of the canvas that holds them all.
    """
    parts = list(_chosen(sketch.parts, choices))
    counts = np.cumsum([sum(len(outline) for outline in part.outlines) for part in parts])
    points = np.concatenate([outline for part in parts for outline in part.outlines])
    points = _varied(points, sketch, choices)
    points -= points.min(axis=0)
    extent = points.max(axis=0)
    longer = int(extent.argmax())
    scale = (side + 2 * BEYOND) / float(extent[longer])
    points *= scale
    points[:, longer] -= BEYOND
    size = np.ceil(extent * scale).astype(int).tolist()
    size[longer] = side
    return list(zip(parts, np.split(points[:, ::-1], counts[:-1]), strict=True)), (size[1], size[0])


def _chosen(rows: Rows, choices: Choices) -> Iterator[Part]:
    """The parts that are drawn. A row is one of

    - ``[shape, tint, numbers..., look]``: a part; the look may hold shade, relief, gloss, and, as ``at``, the place
      (x, y) and the factor of its size that the shape is moved to;
    - ``["maybe", chance, row, ...]``: rows drawn with this probability;
    - ``["swing", x, y, most, row, ...]``: rows turned about a point by an angle, the tangent of whose half is up to
      `most`;
    - ``["one_of", [row, ...], [row, ...], ...]``: one of several groups of rows;
    - an assembly of :data:`ASSEMBLIES` with its numbers.
    """
    for name, *values in rows:
        if name == "maybe":
            if choices.chance(values[0]):
                yield from _chosen(values[1:], choices)
        elif name == "swing":
            pivot, turn = values[:2], choices.between(-values[2], values[2])
            for part in _chosen(values[3:], choices):
                yield replace(part, outlines=tuple(turned(outline - pivot, turn) + pivot for outline in part.outlines))
        elif name == "one_of":
            yield from _chosen(choices.of(values), choices)
        elif name in ASSEMBLIES:
            yield from _chosen(ASSEMBLIES[name](*values), choices)
        else:
            shape, tint, values, look = read_row([name, *values])
            outlines = _outlines(shape, *values)
            if "at" in look:
                x, y, size = (*look["at"], 1)[:3]
                outlines = tuple(outline * size + np.array([x, y]) for outline in outlines)
            yield Part(outlines, tint, **{name: value for name, value in look.items() if name != "at"})


@cache
def _outlines(shape: str, *values: float | str) -> Outlines:
    return SHAPES[shape](*values)


def _varied(points: Float64, sketch: Sketch, choices: Choices) -> Float64:
    """The points in varied proportions: stretched, swollen at one end, bent, turned and perhaps mirrored."""
    low, high = points.min(axis=0), points.max(axis=0)
    half = (high - low) / 2
    x, y = ((points - low) / half - 1).T
    give = sketch.give
    stretch = 1 + give * choices.between(-0.14, 0.14)
    swell = [give * choices.between(-0.09, 0.09) for _ in range(2)]
    bend = [give * choices.between(-0.06, 0.06) for _ in range(2)]
    shear = give * choices.between(-0.07, 0.07)
    turn = choices.between(-sketch.lean, sketch.lean)
    flip = -1.0 if sketch.mirrored and choices.chance(0.5) else 1.0
    across = (x + swell[0] * x * x + bend[0] * y * y + shear * y) * (half[0] * stretch * flip)
    down = (y + swell[1] * y * y + bend[1] * x * x) * half[1]
    return turned(np.stack([across, down], axis=1), turn)
