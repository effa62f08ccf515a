"""A sketch: the parts and skins of a class of objects; and the pose of one of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from salgen.generators.drawing.outlines import turned
from salgen.generators.figures.creatures.choices import Choices
from salgen.generators.stand_ins.cutouts.parts import Item, Part
from salgen.generators.stand_ins.cutouts.skins import Skin
from salgen.types import Float64

BEYOND = 0.2  # pixels that the ends of the longer side lie outside, so that they are seen in the border pixels


@dataclass(frozen=True, eq=False)
class Sketch:
    """The skins, parts and proportions of a class of objects."""

    skins: Mapping[str, Skin]  # their colours and materials, by the names that the parts use
    parts: Sequence[Item]  # from the back to the front
    give: float = 1.0  # variation of the proportions: 1 for soft or living objects, less for rigid ones
    lean: float = 0.05  # the most that the tangent of half the angle of its turn may be
    mirrored: bool = True  # whether left and right may be exchanged


@dataclass(frozen=True, eq=False)
class Posed:
    """The parts of one object, in pixels."""

    parts: Sequence[Part]  # from the back to the front
    outlines: Sequence[Float64]  # (row, column) of the corners of each part, float64 (N, 2)
    size: tuple[int, int]  # (H, W) of the canvas that holds them all


def posed(sketch: Sketch, side: int, choices: Choices) -> Posed:
    """An object with its own proportions, turn and lean, its longer side a little more than `side` pixels."""
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
    return Posed(parts, np.split(points[:, ::-1], counts[:-1]), (size[1], size[0]))


def _chosen(items: Sequence[Item], choices: Choices) -> Iterator[Part]:
    """The parts that are drawn, each turned with its groups."""
    for item in items:
        if isinstance(item, Part):
            yield item
            continue
        if item.chance < 1 and not choices.chance(item.chance):
            continue
        option = item.options[0] if len(item.options) == 1 else choices.of(item.options)
        if not item.swing:
            yield from _chosen(option, choices)
            continue
        turn = choices.between(-item.swing, item.swing)
        for part in _chosen(option, choices):
            outlines = tuple(turned(outline - item.pivot, turn) + item.pivot for outline in part.outlines)
            yield Part(outlines, part.tint, part.shade, part.relief, part.gloss)


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
