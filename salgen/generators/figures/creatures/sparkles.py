"""White and yellow things that float beside a figure: stars, rings and gems, in both colours in every picture."""

from salgen.generators.drawing.shapes import oval
from salgen.generators.figures.creatures.choices import Choices, Tint
from salgen.generators.figures.creatures.drawing import Drawing, Points

INK: Tint = (26, 20, 34)
LINE = 0.008
ROWS = (-0.41, -0.2, 0.0, 0.2, 0.4)
COLUMNS = (-0.41, 0.41)  # to the left and right of where eyes can be
JITTER = 0.025
SMALLEST, LARGEST = 0.042, 0.055  # the star is larger by a fifth


def draw_sparkles(drawing: Drawing, gleams: tuple[Tint, Tint], choices: Choices) -> None:
    """Draw one thing of each colour, and up to two more.

    Parameters
    ----------
    drawing
        In a frame whose origin is the image's middle.
    gleams
        The two colours.
    choices
        Decide places, sizes and shapes.
    """
    places = [(row, column) for row in ROWS for column in COLUMNS]
    tints = [*gleams, choices.of(gleams), choices.of(gleams)][: choices.count(2, 4)]
    for tint in tints:
        down, across = places.pop(choices.count(0, len(places) - 1))
        middle = down + choices.between(-JITTER, JITTER), across + choices.between(-JITTER, JITTER)
        choices.of((_star, _eyelike, _gem))(drawing, middle, choices.between(SMALLEST, LARGEST), tint)


def _star(drawing: Drawing, middle: tuple[float, float], radius: float, tint: Tint) -> None:
    """A star with four points."""
    points = [
        (-1.0, 0.0),
        (-0.4, 0.4),
        (0.0, 1.0),
        (0.4, 0.4),
        (1.0, 0.0),
        (0.4, -0.4),
        (0.0, -1.0),
        (-0.4, -0.4),
    ]
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
