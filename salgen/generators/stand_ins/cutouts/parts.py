"""What sketches are made of: outlines filled with a named tint, and groups of them that move or vary.

A sketch has its own coordinates: x to the right, y downwards, in any unit. Points are written as in SVG:
``"x,y x,y ..."``, with ``/`` between several outlines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from salgen.generators.drawing.shapes import QUARTER
from salgen.generators.drawing.shapes import oval as ellipse
from salgen.types import Float64

PER_KNOT = 5  # points of a smooth outline between two of its knots


@dataclass(frozen=True, eq=False)
class Part:
    """Outlines that are filled at once.

    Attributes
    ----------
    outlines
        (x, y) of each corner, float64 (N, 2) each; where outlines run the opposite way round is a hole.
    tint
        The name of one of the sketch's skins, or of a common one.
    shade
        Factor of its brightness.
    relief
        How much rounder than flat it looks.
    gloss
        Strength of a highlight.
    """

    outlines: tuple[Float64, ...]
    tint: str
    shade: float = 1.0
    relief: float = 0.3
    gloss: float = 0.0


@dataclass(frozen=True, eq=False)
class Group:
    """Parts that are turned together, are not always there, or of which one option is drawn.

    Attributes
    ----------
    options
        One of these is drawn.
    pivot, swing
        The point that the parts turn about, and the most that the tangent of half the angle may be.
    chance
        How often the group is there.
    """

    options: tuple[tuple[Part | Group, ...], ...]
    pivot: tuple[float, float] = (0.0, 0.0)
    swing: float = 0.0
    chance: float = 1.0


Item = Part | Group


def poly(tint: str, points: str, **look: Any) -> Part:
    """Polygons."""
    return Part(tuple(_clockwise(outline) for outline in read(points)), tint, **look)


def blob(tint: str, points: str, **look: Any) -> Part:
    """Smooth outlines through points; a point given twice is a corner."""
    return Part(tuple(_clockwise(smooth(knots)) for knots in read(points)), tint, **look)


def oval(tint: str, x: float, y: float, across: float, down: float, **look: Any) -> Part:
    """An ellipse with these radii."""
    return Part((_clockwise(ellipse((x, y), (across, down))),), tint, **look)


def dots(tint: str, radius: float, points: str, **look: Any) -> Part:
    """Discs."""
    discs = (ellipse(place, (radius, radius)) for outline in read(points) for place in outline)
    return Part(tuple(_clockwise(disc) for disc in discs), tint, **look)


def ring(tint: str, x: float, y: float, across: float, down: float, width: float, **look: Any) -> Part:
    """An ellipse of these outer radii with a hole in it."""
    outer, inner = ellipse((x, y), (across, down)), ellipse((x, y), (across - width, down - width))
    return Part((_clockwise(outer), _clockwise(inner)[::-1]), tint, **look)


def box(tint: str, left: float, top: float, right: float, bottom: float, corner: float = 0.0, **look: Any) -> Part:
    """A rectangle, its corners rounded by a radius."""
    return Part((_rectangle(left, top, right, bottom, corner),), tint, **look)


def boxes(tint: str, places: str, **look: Any) -> Part:
    """Rectangles, each given as its first and its last corner."""
    edges = read(places)[0].reshape(-1, 4).tolist()
    return Part(tuple(_rectangle(left, top, right, bottom, 0.0) for left, top, right, bottom in edges), tint, **look)


def frame(tint: str, left: float, top: float, right: float, bottom: float, width: float, **look: Any) -> Part:
    """A rectangle with a rectangular hole."""
    inner = _rectangle(left + width, top + width, right - width, bottom - width, 0.0)
    return Part((_rectangle(left, top, right, bottom, 0.0), inner[::-1]), tint, **look)


def line(tint: str, width: float, points: str, **look: Any) -> Part:
    """Lines with round joints and ends."""
    return Part(tuple(piece for places in read(points) for piece in _stroke(places, width)), tint, **look)


def curve(tint: str, width: float, points: str, **look: Any) -> Part:
    """Smooth lines."""
    pieces = (piece for knots in read(points) for piece in _stroke(smooth(knots, closed=False), width))
    return Part(tuple(pieces), tint, **look)


def swing(x: float, y: float, most: float, *parts: Item) -> Group:
    """Parts that turn about a point."""
    return Group((parts,), (x, y), most)


def maybe(chance: float, *parts: Item) -> Group:
    """Parts that are there in a share of cases."""
    return Group((parts,), chance=chance)


def one_of(*options: Sequence[Item]) -> Group:
    """One of several sequences of parts."""
    return Group(tuple(tuple(option) for option in options))


def moved(part: Part, x: float, y: float, size: float = 1.0, **look: Any) -> Part:
    """A part made larger by a factor and then moved, in another look if one is given."""
    outlines = tuple(outline * size + np.array([x, y]) for outline in part.outlines)
    return replace(part, outlines=outlines, **look)


def read(points: str) -> list[Float64]:
    """Outlines (N, 2) that are written as text."""
    outlines = [[[float(number) for number in place.split(",")] for place in one.split()] for one in points.split("/")]
    return [np.array(outline) for outline in outlines]


def smooth(knots: Float64, closed: bool = True) -> Float64:
    """A Catmull-Rom spline through knots (N, 2), PER_KNOT points for each that is followed by another one."""
    ring = knots if closed else np.concatenate([knots[:1], knots, knots[-1:]])
    before, after, beyond = (np.roll(ring, shift, axis=0) for shift in (1, -1, -2))
    share = (np.arange(PER_KNOT) / PER_KNOT)[:, np.newaxis, np.newaxis]
    pieces = (
        ring
        + (after - before) * (0.5 * share)
        + (2 * before - 5 * ring + 4 * after - beyond) * (0.5 * share * share)
        + (3 * ring - before - 3 * after + beyond) * (0.5 * share * share * share)
    ).swapaxes(0, 1)
    if closed:
        return np.asarray(pieces[(ring != after).any(axis=1)].reshape(-1, 2))
    return np.concatenate([pieces[1:-2].reshape(-1, 2), knots[-1:]])


def _rectangle(left: float, top: float, right: float, bottom: float, corner: float) -> Float64:
    if not corner:
        return _clockwise(np.array([(left, top), (right, top), (right, bottom), (left, bottom)], dtype=np.float64))
    disc = ellipse((0.0, 0.0), (corner, corner))  # its corners begin at the right and go downwards
    disc = np.concatenate([disc, disc[:1]])
    left, top, right, bottom = left + corner, top + corner, right - corner, bottom - corner
    middles = [(right, bottom), (left, bottom), (left, top), (right, top)]
    arcs = [disc[number * QUARTER : (number + 1) * QUARTER + 1 : 2] + middles[number] for number in range(4)]
    return _clockwise(np.concatenate(arcs))


def _stroke(places: Float64, width: float) -> list[Float64]:
    """Discs at the joints of a line and bars between them."""
    half = width / 2
    joints = [ellipse(place, (half, half))[::2] for place in places]
    bars = [_bar(start, end, half) for start, end in pairwise(places)]
    return [_clockwise(piece) for piece in (*joints, *bars)]


def _bar(start: Float64, end: Float64, half: float) -> Float64:
    x, y = end - start
    aside = np.array([-y, x]) * (half / float(np.sqrt(x * x + y * y)))
    return np.stack([start - aside, end - aside, end + aside, start + aside])


def _clockwise(outline: Float64) -> Float64:
    """The outline, turned round if need be, so that overlapping outlines add up."""
    after = np.roll(outline, -1, axis=0)
    area = (outline[:, 0] * after[:, 1] - outline[:, 1] * after[:, 0]).sum()
    return outline if area >= 0 else outline[::-1]
