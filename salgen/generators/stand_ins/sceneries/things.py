"""Things that stand in scenes or hang on their walls, read from a catalogue.

A thing is a list of pieces, later ones over earlier ones, in a box with x from -0.5 to 0.5 and y from 0 (top) to 1
(foot). A piece is a row: its shape, its ink ("" for the one that the user of the thing names), the shape's numbers,
and its look. Shapes are

- ``block`` left, top, right, bottom;
- ``ring`` x, y and the two radii of an ellipse;
- ``arch`` as a block, and the share of its height that its round top takes;
- ``poly`` points, filled in each row from the leftmost to the rightmost edge;
- ``panes`` rows, columns, left, top, right, bottom, and the share of a pane that is frame.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from salgen.generators.drawing.catalogue import catalogue, read_points, read_row
from salgen.generators.drawing.shapes import oval

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Piece:
    """A part of a thing."""

    ink: str  # its name, or "" for the one that the user names
    points: Points  # (x, y) of each corner
    light: float = 1.0  # factor of the ink's colour
    fall: float = 0.0  # loss of light from its top to its bottom


CIRCLE = tuple((float(x), float(y)) for x, y in oval((0.0, 0.0), (1.0, 1.0))[::2])


def block(left: float, top: float, right: float, bottom: float) -> Points:
    """A rectangle."""
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def ring(x: float, y: float, across: float, down: float) -> Points:
    """An ellipse."""
    return tuple((x + across * a, y + down * b) for a, b in CIRCLE)


def arch(left: float, top: float, right: float, bottom: float, rise: float) -> Points:
    """A rectangle with a round top."""
    middle, half, high = (left + right) / 2, (right - left) / 2, rise * (bottom - top)
    curve = sorted((middle + half * a, top + high * (1 + b)) for a, b in CIRCLE if b <= 0)
    return ((left, bottom), *curve, (right, bottom))


def panes(
    rows: int, columns: int, left: float, top: float, right: float, bottom: float, gap: float
) -> Iterator[Points]:
    """Rectangles in rows and columns."""
    wide, high = (right - left) / columns, (bottom - top) / rows
    for row in range(rows):
        for column in range(columns):
            x, y = left + column * wide, top + row * high
            yield block(x + gap * wide, y + gap * high, x + (1 - gap) * wide, y + (1 - gap) * high)


def poly(points: str) -> Points:
    """A polygon."""
    return tuple((x, y) for x, y in read_points(points)[0].tolist())


SHAPES: dict[str, Callable[..., Points]] = {"block": block, "ring": ring, "arch": arch, "poly": poly}


def read_pieces(rows: Iterable[list[Any]]) -> tuple[Piece, ...]:
    """The pieces that rows describe.

    Examples
    --------
    >>> read_pieces([["block", "wood", -0.5, 0, 0.5, 1, {"light": 0.9}]])
    (Piece(ink='wood', points=((-0.5, 0), (0.5, 0), (0.5, 1), (-0.5, 1)), light=0.9, fall=0.0),)
    """
    return tuple(piece for row in rows for piece in _pieces(row))


def _pieces(row: list[Any]) -> Iterator[Piece]:
    shape, ink, values, look = read_row(row)
    for points in panes(*values) if shape == "panes" else [SHAPES[shape](*values)]:
        yield Piece(ink, points, **look)


THINGS: dict[str, tuple[Piece, ...]] = {name: read_pieces(rows) for name, rows in catalogue("things/*.json").items()}
