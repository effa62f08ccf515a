"""Outlines of shapes in the plane: polygons, smooth outlines, ellipses, rectangles and lines, as corners (x, y).

Outlines filled together add up where they run the same way; one that runs the opposite way is a hole. Points may be
written as text, see :func:`~salgen.generators.drawing.catalogue.read_points`.
"""

from collections.abc import Callable
from itertools import pairwise
import numpy as np
from salgen.generators.drawing.catalogue import read_points
from salgen.generators.drawing.shapes import QUARTER
from salgen.generators.drawing.shapes import oval as ellipse
from salgen.types import Float64

Outlines = tuple[Float64, ...]  # (N, 2) each

PER_KNOT = 5  # points of a smooth outline between two of its knots


def poly(points: str) -> Outlines:
    """Polygons."""
    return tuple(map(_clockwise, read_points(points)))


def blob(points: str) -> Outlines:
    """Smooth outlines through points; a point given twice is a corner."""
    return tuple(_clockwise(smooth(knots)) for knots in read_points(points))


def oval(x: float, y: float, across: float, down: float) -> Outlines:
    """An ellipse with these radii."""
    return (_clockwise(ellipse((x, y), (across, down))),)


def dots(radius: float, points: str) -> Outlines:
    """Discs."""
    places = (place for outline in read_points(points) for place in outline)
    return tuple(_clockwise(ellipse(place, (radius, radius))) for place in places)


def ring(x: float, y: float, across: float, down: float, width: float) -> Outlines:
    """An ellipse of these outer radii with a hole in it."""
    return (*oval(x, y, across, down), oval(x, y, across - width, down - width)[0][::-1])


def box(left: float, top: float, right: float, bottom: float, corner: float = 0.0) -> Outlines:
    """A rectangle, its corners rounded by a radius."""
    if not corner:
        return (_clockwise(np.array([(left, top), (right, top), (right, bottom), (left, bottom)], dtype=np.float64)),)
    disc = ellipse((0.0, 0.0), (corner, corner))  # its corners begin at the right and go downwards
    disc = np.concatenate([disc, disc[:1]])
    left, top, right, bottom = left + corner, top + corner, right - corner, bottom - corner
    middles = [(right, bottom), (left, bottom), (left, top), (right, top)]
    arcs = [disc[number * QUARTER : (number + 1) * QUARTER + 1 : 2] + middles[number] for number in range(4)]
    return (_clockwise(np.concatenate(arcs)),)


def boxes(places: str) -> Outlines:
    """Rectangles, each given as its first and its last corner."""
    return tuple(box(*edges)[0] for edges in read_points(places)[0].reshape(-1, 4).tolist())


def frame(left: float, top: float, right: float, bottom: float, width: float) -> Outlines:
    """A rectangle with a rectangular hole."""
    return (*box(left, top, right, bottom), box(left + width, top + width, right - width, bottom - width)[0][::-1])


def line(width: float, points: str) -> Outlines:
    """Lines with round joints and ends."""
    return tuple(piece for places in read_points(points) for piece in _stroke(places, width))


def curve(width: float, points: str) -> Outlines:
    """Smooth lines."""
    return tuple(piece for knots in read_points(points) for piece in _stroke(smooth(knots, closed=False), width))


def keys(left: float, right: float, tops: str, across: int, gap: float, height: float) -> Outlines:
    """Rows of equal rectangles with gaps between them, to hundredths; `tops` lists where each row begins."""
    step = (right - left) / across
    places = [(left + number * step, float(top)) for top in tops.split() for number in range(across)]
    return boxes(" ".join(f"{x:.2f},{y:.2f} {x + step - gap:.2f},{y + height:.2f}" for x, y in places))


_DRAWN = (poly, blob, oval, dots, ring, box, boxes, frame, line, curve, keys)
SHAPES: dict[str, Callable[..., Outlines]] = {shape.__name__: shape for shape in _DRAWN}


def smooth(knots: Float64, closed: bool = True) -> Float64:
    """A Catmull-Rom spline through knots (N, 2), with PER_KNOT points between each knot and the next."""
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


def turned(points: Float64, turn: float) -> Float64:
    """Points (..., 2) turned about the origin by the angle whose half has the tangent `turn`."""
    along, aside = (1 - turn * turn) / (1 + turn * turn), 2 * turn / (1 + turn * turn)
    rows, columns = points[..., 0], points[..., 1]
    return np.stack([along * rows - aside * columns, aside * rows + along * columns], axis=-1)


def _stroke(places: Float64, width: float) -> list[Float64]:
    """The outlines of a line: discs at its joints and bars between them."""
    half = width / 2
    joints = [ellipse(place, (half, half))[::2] for place in places]
    bars = [bar(start, end, half) for start, end in pairwise(places)]
    return [_clockwise(piece) for piece in (*joints, *bars)]


def bar(start: Float64, end: Float64, half: float) -> Float64:
    """A straight piece of a line, float64 (4, 2), of this half width; it runs the same way round as an ellipse."""
    x, y = end - start
    length = float(np.sqrt(x * x + y * y))
    aside = np.array([-y, x]) * (half / length if length else 0.0)
    return np.stack([start - aside, end - aside, end + aside, start + aside])


def _clockwise(outline: Float64) -> Float64:
    """The outline, reversed if it runs anticlockwise, so that overlapping outlines add up."""
    after = np.roll(outline, -1, axis=0)
    area = (outline[:, 0] * after[:, 1] - outline[:, 1] * after[:, 0]).sum()
    return outline if area >= 0 else outline[::-1]
