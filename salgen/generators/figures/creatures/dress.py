"""Markings and clothes on a cartoon creature's body."""

from salgen.generators.drawing.shapes import oval
from salgen.generators.figures.creatures.build import INK, LINE, Build
from salgen.generators.figures.creatures.choices import Choices, shade
from salgen.generators.figures.creatures.drawing import Drawing


def _no_marks(drawing: Drawing, build: Build, choices: Choices, body: int) -> None:
    """Draw nothing."""


def _belly(drawing: Drawing, build: Build, choices: Choices, body: int) -> None:
    """A pale belly."""
    radii = (build.hem * choices.between(0.24, 0.3), build.hips * choices.between(0.55, 0.7))
    drawing.fill(oval((0.86 * build.hem, 0.0), radii), build.pale, body)


def _bands(drawing: Drawing, build: Build, choices: Choices, body: int) -> None:
    """Bands around the lower body."""
    for place in (0.66, 0.8, 0.94):
        down, half = place * build.hem, 0.014
        drawing.fill(
            [(down - half, -1.0), (down - half, 1.0), (down + half, 1.0), (down + half, -1.0)], build.pale, body
        )


def _spots(drawing: Drawing, build: Build, choices: Choices, body: int) -> None:
    """Spots all over the body."""
    spots = []
    for row in range(5):
        for column in (-1, 0, 1):
            down = build.crown + 0.05 + row * 0.12 + choices.between(-0.02, 0.02)
            across = (column + 0.4 * (row % 2)) * 0.12 + choices.between(-0.02, 0.02)
            radius = choices.between(0.015, 0.03)
            spots.append(oval((down, across), (radius, radius)))
    drawing.fill_all(spots, shade(build.skin, 0.7), body)


def _mask(drawing: Drawing, build: Build, choices: Choices, body: int) -> None:
    """A masked face: a band of another colour behind the eyes."""
    up, half = build.reach[0] + choices.between(0.015, 0.03), 1.0
    ends = [(-up, -half), (-up, half), (up, half), (up, -half)]
    drawing.fill(ends, shade(build.dress, 0.85), body)


def _belt(drawing: Drawing, build: Build, choices: Choices, body: int) -> None:
    """A belt with a buckle."""
    down, half = choices.between(0.72, 0.8) * build.hem, 0.026
    for tint, extra in ((INK, LINE), (build.dress, 0.0)):
        edge = half + extra
        drawing.fill([(down - edge, -1.0), (down - edge, 1.0), (down + edge, 1.0), (down + edge, -1.0)], tint, body)
    drawing.outlined(oval((down, 0.0), (half * 1.1, half * 1.3)), build.gleams[0], INK, LINE)


def _buttons(drawing: Drawing, build: Build, choices: Choices, body: int) -> None:
    """Round buttons, with a hole that looks like a pupil."""
    radius = choices.between(0.022, 0.032)
    for number in range(choices.count(2, 3)):
        middle = ((0.95 - 0.16 * number) * build.hem - 0.02, 0.0)
        drawing.outlined(oval(middle, (radius, radius)), build.gleams[number], INK, LINE)
        drawing.fill(oval(middle, (radius * 0.4, radius * 0.4)), INK)


MARKS = (_no_marks, _belly, _bands, _spots, _mask)
DRESSES = (_no_marks, _belt, _buttons, _buttons)
