"""The pictograms of traffic signs, read from a catalogue: digits, letters, vehicles, figures and arrows.

Each stands in a box from -1 to 1, x to the right and y downwards. Its rows are

- ``["poly", colour, points...]``, ``["line", colour, width, points...]``, ``["dot", colour, x, y, radius]``; the colour
  is "" for the pictogram's, and points are ``"x,y x,y ..."`` or the numbers of an arc, ``[x, y, across, down, start,
  stop, steps]``;
- ``["placed", x, y, scale, row...]``, ``["turned", [degrees, ...], row...]``, ``["mirrored", row...]``;
- the name of another pictogram.
"""

from collections.abc import Iterable
from typing import Any

from salgen.generators.drawing.catalogue import catalogue, read_points
from salgen.generators.traffic_signs.signs.parts import Pictogram, Point, SignPart, arc, mirrored, placed, turned

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
        return mirrored(read_pictogram(values))
    colour, *numbers = values
    if shape == "dot":
        x, y, radius = numbers
        return (SignPart(((x, y),), 2 * radius, colour),)
    width = numbers.pop(0) if shape == "line" else 0.0
    return (SignPart(_points(numbers), width, colour),)


def _points(pieces: Iterable[Any]) -> tuple[Point, ...]:
    """The points that texts and arcs describe."""
    return tuple(point for piece in pieces for point in _piece(piece))


def _piece(piece: Any) -> tuple[Point, ...]:
    if isinstance(piece, str):
        return tuple((x, y) for x, y in read_points(piece)[0].tolist())
    x, y, across, down, *bounds = piece
    return arc((x, y), (across, down), *bounds)
