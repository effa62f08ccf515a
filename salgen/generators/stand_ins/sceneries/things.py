"""Pictures of things, read from a short notation: what stands in scenes and hangs on their walls.

A thing is a list of pieces, later ones over earlier ones, in a box with x from -0.5 to 0.5 and y from 0 (top) to 1
(foot). A piece is an ink, a shape with its numbers, "@" and its light, "/" and how much darker its bottom is than its
top; pieces stand between semicolons. The ink "_" is the one that the user of the thing names. Shapes are

- ``block`` left, top, right, bottom;
- ``ring`` x, y and the two radii of an ellipse;
- ``arch`` as a block, and the share of its height that its round top takes;
- ``poly`` x y, x y, ...: filled in each row from the leftmost to the rightmost edge;
- ``panes`` rows, columns, left, top, right, bottom, and the share of a pane that is frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from salgen.generators.drawing.shapes import oval
from salgen.generators.stand_ins.sceneries.buildings import BUILDINGS
from salgen.generators.stand_ins.sceneries.furniture import FURNITURE
from salgen.generators.stand_ins.sceneries.plants import PLANTS

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Piece:
    """A part of a thing.

    Attributes
    ----------
    ink
        Its name, or "" for the one that the user names.
    points
        (x, y) of each corner.
    light
        What the ink's colour is multiplied by.
    fall
        How much darker its bottom is than its top.
    """

    ink: str
    points: Points
    light: float = 1.0
    fall: float = 0.0


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
    rows: float, columns: float, left: float, top: float, right: float, bottom: float, gap: float
) -> Iterator[Points]:
    """Rectangles in rows and columns."""
    wide, high = (right - left) / columns, (bottom - top) / rows
    for row in range(int(rows)):
        for column in range(int(columns)):
            x, y = left + column * wide, top + row * high
            yield block(x + gap * wide, y + gap * high, x + (1 - gap) * wide, y + (1 - gap) * high)


SHAPES: dict[str, Callable[..., Points]] = {"block": block, "ring": ring, "arch": arch}


def drawing(text: str) -> tuple[Piece, ...]:
    """The pieces that the notation describes.

    Examples
    --------
    >>> drawing("wood block -.5 0 .5 1 @.9 /.2")
    (Piece(ink='wood', points=((-0.5, 0.0), (0.5, 0.0), (0.5, 1.0), (-0.5, 1.0)), light=0.9, fall=0.2),)
    """
    return tuple(piece for part in text.split(";") for piece in _pieces(part.replace(",", " ").split()))


def _pieces(words: list[str]) -> Iterator[Piece]:
    ink, shape = words[0].removeprefix("_"), words[1]
    light = next((float(word[1:]) for word in words if word[0] == "@"), 1.0)
    fall = next((float(word[1:]) for word in words if word[0] == "/"), 0.0)
    numbers = [float(word) for word in words[2:] if word[0] not in "@/"]
    if shape == "panes":
        yield from (Piece(ink, points, light, fall or 0.2) for points in panes(*numbers))
    elif shape == "poly":
        yield Piece(ink, tuple(zip(numbers[::2], numbers[1::2], strict=True)), light, fall)
    else:
        yield Piece(ink, SHAPES[shape](*numbers), light, fall)


THINGS: dict[str, tuple[Piece, ...]] = {
    name: drawing(text) for name, text in {**PLANTS, **BUILDINGS, **FURNITURE}.items()
}
