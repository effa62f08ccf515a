"""The pictograms of traffic signs, read from a catalogue: digits, letters, vehicles, figures and arrows.

Each stands in a box from -1 to 1, x to the right and y downwards. Its rows are

- ``["poly", colour, points...]``, ``["line", colour, width, points...]``, ``["dot", colour, x, y, radius]``; the colour
  is "" for the pictogram's, and points are ``"x,y x,y ..."`` or the numbers of an arc, ``[x, y, across, down, start,
  stop, steps]``;
- ``["placed", x, y, scale, row...]``, ``["turned", [degrees, ...], row...]``, ``["mirrored", row...]``;
- the name of another pictogram.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
import numpy as np
from salgen.generators.drawing.catalogue import catalogue, read_points

Point = tuple[float, float]


@dataclass(frozen=True)
class SignPart:
    """A filled polygon if its width is 0, otherwise a line of that width with round joints and ends."""

    points: tuple[Point, ...]  # (x, y) of each corner; a line through one point is a dot
    # of the line, in the units of the box
    width: float = 0.0
    colour: str = ""  # a name of `COLOURS`, or "" for the pictogram's


Pictogram = tuple[SignPart, ...]


def mapped(
    pictogram: Pictogram, move: Callable[[float, float], Point], scale: float = 1.0, colour: str = ""
) -> Pictogram:
    """A pictogram with each point moved and widths scaled, and coloured where it has no colour of its own."""
    return tuple(
        SignPart(tuple(move(x, y) for x, y in part.points), part.width * scale, part.colour or colour)
        for part in pictogram
    )


def placed(pictogram: Pictogram, centre: Point, scale: float, colour: str = "") -> Pictogram:
    """A pictogram scaled and moved, and coloured where it has no colour of its own."""
    x0, y0 = centre
    return mapped(pictogram, lambda x, y: (x0 + scale * x, y0 + scale * y), scale, colour)


def turned(pictogram: Pictogram, degrees: float) -> Pictogram:
    """The pictogram turned clockwise."""
    cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return mapped(pictogram, lambda x, y: (float(x * cosine - y * sine), float(x * sine + y * cosine)))


def arc(centre: Point, radii: Point, start: float, stop: float, steps: int = 16) -> tuple[Point, ...]:
    """Points on an ellipse, clockwise in degrees from the right."""
    angles = np.deg2rad(np.linspace(start, stop, steps + 1))
    return tuple(
        (float(centre[0] + radii[0] * np.cos(angle)), float(centre[1] + radii[1] * np.sin(angle))) for angle in angles
    )


def poly(*points: Point, colour: str = "") -> SignPart:
    """A filled polygon."""
    return SignPart(points, 0.0, colour)


def line(width: float, *points: Point, colour: str = "") -> SignPart:
    """A line."""
    return SignPart(points, width, colour)


def dot(x: float, y: float, radius: float, colour: str = "") -> SignPart:
    """A disc."""
    return SignPart(((x, y),), 2 * radius, colour)


STEM = 0.34  # stroke of digits and letters, which are 1 wide and 2 high
CATALOGUE = catalogue("signs.json")


def pictogram(name: str) -> Pictogram:
    """A pictogram by its name."""
    return read_pictogram(CATALOGUE["pictograms"][name])


def text(word: str, height: float, advance: float) -> Pictogram:
    """A word in the middle of the box; `advance` is the distance from one glyph to the next, in heights."""
    parts: list[SignPart] = []
    for place, glyph in enumerate(word):
        x = (place - (len(word) - 1) / 2) * advance * height
        strokes = tuple(SignPart(_points(stroke), STEM) for stroke in CATALOGUE["glyphs"][glyph])
        parts += placed(strokes, (x, 0.0), height / 2)
    return tuple(parts)


def read_pictogram(rows: Iterable[Any]) -> Pictogram:
    """The parts that rows describe."""
    return tuple(part for row in rows for part in ([*pictogram(row)] if isinstance(row, str) else _read(*row)))


def _read(shape: str, *values: Any) -> Pictogram:
    if shape == "placed":
        return placed(read_pictogram(values[3:]), (values[0], values[1]), values[2])
    if shape == "turned":
        return tuple(part for degrees in values[0] for part in turned(read_pictogram(values[1:]), degrees))
    if shape == "mirrored":
        return mapped(read_pictogram(values), lambda x, y: (-x, y))
    colour, *numbers = values
    if shape == "dot":
        x, y, radius = numbers
        return (dot(x, y, radius, colour),)
    width = numbers.pop(0) if shape == "line" else 0.0
    return (SignPart(_points(numbers), width, colour),)


def _points(pieces: Iterable[Any]) -> tuple[Point, ...]:
    """The points that texts and arcs describe."""
    points: list[Point] = []
    for piece in pieces:
        if isinstance(piece, str):
            points += [(x, y) for x, y in read_points(piece)[0].tolist()]
        else:
            x, y, across, down, *bounds = piece
            points += arc((x, y), (across, down), *bounds)
    return tuple(points)
