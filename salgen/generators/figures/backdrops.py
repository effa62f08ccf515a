"""Surroundings of cartoon figures: plain patterns behind them, and white and yellow things that float beside them."""

from collections.abc import Callable
from salgen.generators.drawing.choices import Choices, Tint, shade
from salgen.generators.drawing.shapes import oval
from salgen.generators.figures.drawing import Drawing, Points, rounded

SKIES: tuple[Tint, ...] = (
    (150, 200, 232),
    (238, 170, 160),
    (168, 216, 178),
    (196, 176, 226),
    (120, 150, 200),
    (232, 186, 138),
    (120, 186, 190),
    (212, 150, 186),
    (96, 104, 150),
    (150, 170, 120),
)


def draw_backdrop(drawing: Drawing, choices: Choices) -> None:
    """Cover a drawing whose frame has the image's centre as its origin."""
    first = choices.near(choices.of(SKIES), 14)
    second = shade(first, choices.of((0.82, 0.88, 1.25, 1.4)))
    drawing.fill(_rectangle(-2.0, -2.0, 2.0, 2.0), first)
    choices.of(PATTERNS)(drawing, choices, first, second)


def _stripes(drawing: Drawing, choices: Choices, first: Tint, second: Tint) -> None:
    """Bands that are slanted either way, upright or level."""
    width, lean, lying = choices.between(0.05, 0.11), choices.of((-0.7, 0.0, 0.7)), choices.chance(0.3)
    start = -1.5 + choices.between(0.0, 2 * width)
    stripes = []
    for number in range(int(3.0 / (2 * width))):
        near = start + 2 * width * number
        corners = [(-1.0, near - lean), (-1.0, near - lean + width), (1.0, near + lean + width), (1.0, near + lean)]
        stripes.append([point[::-1] for point in corners] if lying else corners)
    drawing.fill_all(stripes, second)


def _dots(drawing: Drawing, choices: Choices, first: Tint, second: Tint) -> None:
    """Dots in rows, every other row moved by half a step."""
    step = choices.between(0.16, 0.24)
    radius, start = step * choices.between(0.18, 0.3), choices.between(-0.1, 0.0)
    reach = int(0.7 / step) + 1
    dots = []
    for row in range(-reach, reach + 1):
        for column in range(-reach, reach + 1):
            across = start + (column + 0.5 * (row % 2)) * step
            dots.append(oval((start + row * step, across), (radius, radius)))
    drawing.fill_all(dots, second)


def _rays(drawing: Drawing, choices: Choices, first: Tint, second: Tint) -> None:
    """Rays from behind the figure."""
    rim, middle = oval((0.0, 0.0), (2.0, 2.0)), (choices.between(-0.1, 0.15), choices.between(-0.1, 0.1))
    first_ray = choices.count(0, 1)
    drawing.fill_all([[middle, *rim[start : start + 3]] for start in range(2 * first_ray, len(rim), 4)], second)


def _hills(drawing: Drawing, choices: Choices, first: Tint, second: Tint) -> None:
    """A sky with clouds of its own colour over two rows of hills."""
    cloud = shade(first, 1.35)
    for side in (-0.3, 0.28):
        down, across = choices.between(-0.42, -0.25), side + choices.between(-0.08, 0.08)
        puffs = ((-0.07, 0.05), (0.0, 0.07), (0.07, 0.045))
        drawing.fill_all([oval((down, across + step), (radius, radius * 1.2)) for step, radius in puffs], cloud)
    ground = choices.near(choices.of(SKIES), 14)
    for level, share in ((0.12, 1.2), (0.26, 0.92)):
        ridge = [(level + choices.between(-0.1, 0.1), -1.0 + 0.25 * step) for step in range(9)]
        drawing.fill(rounded([*ridge, (2.0, 2.0), (2.0, -2.0)]), shade(ground, share))


def _checks(drawing: Drawing, choices: Choices, first: Tint, second: Tint) -> None:
    """A wall of squares over a plain floor."""
    step = choices.between(0.12, 0.2)
    reach = int(0.6 / step) + 1
    squares = [
        _rectangle(row * step, column * step, (row + 1) * step, (column + 1) * step)
        for row in range(-reach, reach + 1)
        for column in range(-reach + (row % 2), reach + 1, 2)
    ]
    drawing.fill_all(squares, second)
    drawing.fill(_rectangle(choices.between(0.3, 0.38), -2.0, 2.0, 2.0), shade(first, 0.72))


def _spotlight(drawing: Drawing, choices: Choices, first: Tint, second: Tint) -> None:
    """Rings of light around the figure."""
    middle = (choices.between(-0.1, 0.1), choices.between(-0.08, 0.08))
    rings, reach = choices.count(3, 5), choices.between(0.5, 0.62)
    for ring in range(rings):
        radius = reach * (1 - ring / rings)
        drawing.fill(oval(middle, (radius, radius)), second if ring % 2 == 0 else first)


def _rectangle(top: float, left: float, bottom: float, right: float) -> list[tuple[float, float]]:
    return [(top, left), (top, right), (bottom, right), (bottom, left)]


Pattern = Callable[[Drawing, Choices, Tint, Tint], None]
PATTERNS: tuple[Pattern, ...] = (_stripes, _dots, _rays, _hills, _checks, _spotlight)


INK: Tint = (26, 20, 34)
LINE = 0.008
ROWS = (-0.41, -0.2, 0.0, 0.2, 0.4)
COLUMNS = (-0.41, 0.41)  # to the left and right of where eyes can be
JITTER = 0.025
SMALLEST, LARGEST = 0.042, 0.055  # the star is larger by a fifth


def draw_sparkles(drawing: Drawing, gleams: tuple[Tint, Tint], choices: Choices) -> None:
    """Draw one thing of each of two colours, and up to two more; the frame's origin is the image's middle."""
    places = [(row, column) for row in ROWS for column in COLUMNS]
    tints = [*gleams, choices.of(gleams), choices.of(gleams)][: choices.count(2, 4)]
    for tint in tints:
        down, across = places.pop(choices.count(0, len(places) - 1))
        middle = down + choices.between(-JITTER, JITTER), across + choices.between(-JITTER, JITTER)
        choices.of((_star, _eyelike, _gem))(drawing, middle, choices.between(SMALLEST, LARGEST), tint)


def _star(drawing: Drawing, middle: tuple[float, float], radius: float, tint: Tint) -> None:
    """A star with four points."""
    points = [(-1.0, 0.0), (-0.4, 0.4), (0.0, 1.0), (0.4, 0.4), (1.0, 0.0), (0.4, -0.4), (0.0, -1.0), (-0.4, -0.4)]
    _outlined(drawing, middle, 1.2 * radius, points, tint)


def _gem(drawing: Drawing, middle: tuple[float, float], radius: float, tint: Tint) -> None:
    """A cut gem."""
    points = [(-0.7, -0.5), (-0.7, 0.5), (-0.1, 0.9), (0.9, 0.0), (-0.1, -0.9)]
    _outlined(drawing, middle, radius, points, tint)


def _eyelike(drawing: Drawing, middle: tuple[float, float], radius: float, tint: Tint) -> None:
    """A disc with a dark middle."""
    drawing.fill(oval(middle, (radius * 0.9, radius * 0.9)), INK)
    drawing.fill(oval(middle, (radius * 0.9 - LINE, radius * 0.9 - LINE)), tint)
    drawing.fill(oval(middle, (radius * 0.3, radius * 0.3)), INK)


def _outlined(drawing: Drawing, middle: tuple[float, float], radius: float, points: Points, tint: Tint) -> None:
    for size, colour in ((radius, INK), (radius - 2 * LINE, tint)):
        drawing.fill([(middle[0] + size * down, middle[1] + size * across) for down, across in points], colour)
