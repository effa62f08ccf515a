"""The parts of pictograms: polygons, lines and dots, and their placement.

A pictogram is a tuple of parts in a box from -1 to 1, x to the right and y downwards. A part takes the
pictogram's colour, or one of its own.
"""

from dataclasses import dataclass, replace

import numpy as np

Point = tuple[float, float]


@dataclass(frozen=True)
class SignPart:
    """A filled polygon if its width is 0, otherwise a line of that width with round joints and ends."""

    points: tuple[Point, ...]  # (x, y) of each corner; a line through one point is a dot
    # of the line, in the units of the box
    width: float = 0.0
    colour: str = ""  # a name of `COLOURS`, or "" for the pictogram's


Pictogram = tuple[SignPart, ...]


def placed(pictogram: Pictogram, centre: Point, scale: float, colour: str = "") -> Pictogram:
    """A pictogram scaled and moved, and coloured where it has no colour of its own."""
    x0, y0 = centre
    return tuple(
        SignPart(
            tuple((x0 + scale * x, y0 + scale * y) for x, y in part.points), part.width * scale, part.colour or colour
        )
        for part in pictogram
    )


def mirrored(pictogram: Pictogram) -> Pictogram:
    """The pictogram with left and right exchanged."""
    return tuple(replace(part, points=tuple((-x, y) for x, y in part.points)) for part in pictogram)


def turned(pictogram: Pictogram, degrees: float) -> Pictogram:
    """The pictogram turned clockwise."""
    cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return tuple(
        replace(
            part, points=tuple((float(x * cosine - y * sine), float(x * sine + y * cosine)) for x, y in part.points)
        )
        for part in pictogram
    )


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
