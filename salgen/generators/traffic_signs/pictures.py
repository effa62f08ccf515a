"""Pictures of the 43 traffic signs of the German benchmark: plates, rims and pictograms.

Stallkamp et al. 2012, *Man vs. computer: benchmarking machine learning algorithms for traffic sign
recognition* (Neural Networks 32), number the classes.
"""

from functools import lru_cache
from itertools import pairwise
import numpy as np
from PIL import Image, ImageDraw
from salgen.generators.drawing.pictures import Pixels
from salgen.generators.traffic_signs.pictograms import (
    CATALOGUE,
    Pictogram,
    SignPart,
    arc,
    dot,
    line,
    mapped,
    pictogram,
    placed,
    poly,
    read_pictogram,
    text,
)

SIDE = 256  # pixels of a finished sign picture
FINE = 4  # samples per pixel along each axis while it is drawn
REACH = 0.88  # a sign's radius, in half sides of the picture

COLOURS = {
    "red": (190, 22, 34),
    "blue": (22, 74, 160),
    "yellow": (247, 190, 20),
    "green": (24, 140, 70),
    "white": (240, 240, 238),
    "black": (24, 24, 26),
    "grey": (128, 130, 132),
}

SIGNS = 43
LIMITS = {0: "20", 1: "30", 2: "50", 3: "60", 4: "70", 5: "80", 7: "100", 8: "120"}

ON_TRIANGLES = {int(sign): read_pictogram(rows) for sign, rows in CATALOGUE["triangles"].items()}
ON_BLUE = {int(sign): read_pictogram(rows) for sign, rows in CATALOGUE["blue"].items()}


@lru_cache(maxsize=SIGNS)
def sign_picture(sign: int) -> tuple[Pixels, ...]:
    """A sign of a class, 0 to 42, from the front, at SIDE pixels, at half of it, and so on down to 32.

    Each is uint8 (side, side, 4): red, green and blue, each times coverage, and coverage.
    """
    drawn = Image.new("RGBA", (SIDE * FINE, SIDE * FINE))
    for part in parts_of(sign):
        _draw(ImageDraw.Draw(drawn), part)
    levels = [drawn.convert("RGBa").reduce(FINE)]  # colours times coverage, so that nothing bleeds in
    while levels[-1].width > 32:
        levels.append(levels[-1].reduce(2))
    return tuple(np.asarray(level) for level in levels)


def parts_of(sign: int) -> Pictogram:
    """The parts of a sign from the back to the front; its radius is 1."""
    if sign in LIMITS:
        return (*_ring(), *placed(_number(LIMITS[sign]), (0, 0), 1.0, "black"))
    if sign in ON_TRIANGLES:
        return (*_triangle(), *placed(ON_TRIANGLES[sign], (0, -0.015), 1.09, "black"))
    if sign in ON_BLUE:
        return (dot(0, 0, 1, "white"), dot(0, 0, 0.96, "blue"), *placed(ON_BLUE[sign], (0, 0), 0.68, "white"))
    return OTHER_SIGNS[sign]


def _number(digits: str) -> Pictogram:
    """The digits of a speed limit, narrower where there are three."""
    if len(digits) == 2:
        return text(digits, 0.92, 0.6)
    return mapped(text(digits, 0.84, 0.6), lambda x, y: (0.82 * x, y), 0.85)


def _ring() -> Pictogram:
    return dot(0, 0, 1, "white"), dot(0, 0, 0.975, "red"), dot(0, 0, 0.76, "white")


def _corners(radius: float, down: float) -> tuple[tuple[float, float], ...]:
    half = 0.866 * radius
    return (0.0, down - radius), (half, down + 0.5 * radius), (-half, down + 0.5 * radius)


def _rounded(corners: tuple[tuple[float, float], ...], width: float, colour: str) -> Pictogram:
    return poly(*corners, colour=colour), line(width, *corners, corners[0], colour=colour)


def _triangle() -> Pictogram:
    return (
        *_rounded(_corners(1.0, 0.18), 0.26, "white"),
        *_rounded(_corners(1.0, 0.18), 0.2, "red"),
        *_rounded(_corners(0.73, 0.18), 0.08, "white"),
    )


def _diamond() -> Pictogram:
    corners = ((0.0, -0.9), (0.9, 0.0), (0.0, 0.9), (-0.9, 0.0))
    inner = tuple((0.66 * x, 0.66 * y) for x, y in corners)
    return *_rounded(corners, 0.2, "black"), *_rounded(corners, 0.14, "white"), *_rounded(inner, 0.06, "yellow")


def _octagon() -> Pictogram:
    rim, plate = (poly(*arc((0, 0), (r, r), 22.5, 382.5, 8), colour=c) for r, c in ((1.04, "white"), (0.98, "red")))
    return rim, plate, *placed(text("STOP", 0.66, 0.58), (0, 0), 1.0, "white")


def _end(pictogram: Pictogram, stripes: tuple[float, ...]) -> Pictogram:
    """The white plate that ends a rule: a grey pictogram behind stripes from the lower left to the upper right."""
    at = 0.7071
    lines = [
        line(0.055, (-at * 0.92 + s, at * 0.92 + s), (at * 0.92 + s, -at * 0.92 + s), colour="black") for s in stripes
    ]
    return dot(0, 0, 1, "grey"), dot(0, 0, 0.96, "white"), *placed(pictogram, (0, 0), 1.0, "grey"), *lines


def _side_by_side(left: Pictogram, colour: str, right: Pictogram) -> Pictogram:
    return (
        *placed(left, (-0.36, 0.0), 0.4, colour),
        *placed(right, (0.36, 0.04), 0.37, "" if colour == "grey" else "black"),
    )


CAR = pictogram("car")
STRIPES = (-0.12, -0.06, 0.0, 0.06, 0.12)
OTHER_SIGNS: dict[int, Pictogram] = {
    6: _end(_number("80"), STRIPES),  # end of speed limit 80
    9: (*_ring(), *_side_by_side(CAR, "red", CAR)),  # no overtaking
    10: (*_ring(), *_side_by_side(pictogram("truck"), "red", CAR)),  # no overtaking for trucks
    12: _diamond(),  # priority road
    13: mapped(_triangle(), lambda x, y: (x, -y)),  # yield
    14: _octagon(),  # stop
    15: _ring(),  # no vehicles
    16: (*_ring(), *placed(pictogram("lorry"), (0, 0), 0.58, "black")),  # no trucks
    17: (  # no entry
        dot(0, 0, 1, "white"),
        dot(0, 0, 0.96, "red"),
        poly((-0.72, -0.17), (0.72, -0.17), (0.72, 0.17), (-0.72, 0.17), colour="white"),
    ),
    32: _end((), STRIPES),  # end of all limits
    41: _end(_side_by_side(CAR, "grey", CAR), STRIPES),  # end of no overtaking
    42: _end(_side_by_side(pictogram("truck"), "grey", CAR), STRIPES),  # end of no overtaking for trucks
}


def _draw(pencil: ImageDraw.ImageDraw, part: SignPart) -> None:
    colour = (*COLOURS[part.colour], 255)
    points = np.rint((np.asarray(part.points) * REACH + 1.0) * (SIDE * FINE / 2)).astype(int)
    reach = round(part.width * REACH * SIDE * FINE / 4)
    if not reach:
        pencil.polygon([tuple(point) for point in points.tolist()], fill=colour)
        return
    for x, y in points.tolist():
        pencil.ellipse((x - reach, y - reach, x + reach, y + reach), fill=colour)
    for start, end in pairwise(points):
        along = end - start
        length = float(np.sqrt((along**2).sum()))
        if length:
            aside = np.rint(np.array([-along[1], along[0]]) * (reach / length)).astype(int)
            corners = (start + aside, end + aside, end - aside, start - aside)
            pencil.polygon([tuple(corner) for corner in np.stack(corners).tolist()], fill=colour)
