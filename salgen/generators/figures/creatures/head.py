"""Horns, ears, hats, mouths and brows of a cartoon creature: its head and face without the eyes."""

from collections.abc import Callable

from salgen.generators.drawing.shapes import oval
from salgen.generators.figures.creatures.build import INK, LINE, Build, no_part
from salgen.generators.figures.creatures.choices import Choices, shade
from salgen.generators.figures.creatures.drawing import Drawing, rounded


def _horns(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two curved horns."""
    tall, root = choices.between(0.07, 0.11), build.head * choices.between(0.45, 0.6)
    lean = choices.between(-0.01, 0.07)
    low = build.crown + 0.05
    for side in (-1, 1):
        corners = [(low, root - 0.04), (low - 0.6 * tall, root), (build.crown - tall, root + lean)]
        corners += [(build.crown - tall, root + lean + 0.006), (low - 0.4 * tall, root + 0.06), (low, root + 0.04)]
        drawing.outlined(rounded([(d, a * side) for d, a in corners], 2), build.gleams[2], INK, LINE)


def _ears(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two round ears."""
    radius, root = choices.between(0.05, 0.075), build.head * choices.between(0.6, 0.75)
    for side in (-1, 1):
        middle = (build.crown * 0.85, side * root)
        drawing.outlined(oval(middle, (radius, radius)), build.skin, INK, LINE)
        drawing.fill(oval(middle, (radius * 0.55, radius * 0.55)), build.pale)


def _antennae(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two antennae with knobs."""
    spread, tall = choices.between(0.06, 0.13), choices.between(0.06, 0.1)
    for side in (-1, 1):
        tip = (build.crown - tall, side * spread)
        drawing.line(
            [(build.crown + 0.03, side * 0.04), (build.crown - 0.5 * tall, side * spread * 0.6), tip], 0.016, INK
        )
        drawing.outlined(oval(tip, (0.024, 0.024)), build.dress, INK, LINE)


def _spikes(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A comb of spikes."""
    tall = choices.between(0.06, 0.1)
    for place in (-1.0, 1.0, 0.0):
        across = place * build.head * 0.45
        top = build.crown - tall * (1 - 0.25 * abs(place))
        corners = [
            (build.crown + 0.05, across - 0.05),
            (top, across + 0.2 * place * tall),
            (build.crown + 0.05, across + 0.05),
        ]
        drawing.outlined(rounded(corners, 1), build.dress, INK, LINE)


def _cap(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A round cap with a brim and a knob."""
    brim, wide = build.crown + 0.02, build.head * choices.between(0.6, 0.75)
    tall = choices.between(0.06, 0.09)
    dome = [(brim, -wide), (brim - 1.3 * tall, -wide * 0.8), (brim - 1.3 * tall, wide * 0.8), (brim, wide)]
    drawing.outlined(rounded(dome), build.dress, INK, LINE)
    drawing.outlined(oval((brim, 0.0), (0.016, wide * 1.15)), shade(build.dress, 0.75), INK, LINE)
    drawing.outlined(oval((brim - tall - 0.015, 0.0), (0.02, 0.02)), build.pale, INK, LINE)


def _tall_hat(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A tall hat with a band."""
    brim, wide = build.crown + 0.02, build.head * choices.between(0.4, 0.5)
    top = brim - choices.between(0.1, 0.14)
    felt = shade(build.dress, 0.6)
    drawing.outlined([(brim, -wide), (top, -wide * 1.1), (top, wide * 1.1), (brim, wide)], felt, INK, LINE)
    drawing.fill([(brim - 0.04, -wide), (brim - 0.04, wide), (brim, wide), (brim, -wide)], build.pale)
    drawing.outlined(oval((brim, 0.0), (0.014, wide * 1.6)), felt, INK, LINE)


def _mouth_place(build: Build) -> float:
    return build.reach[0] + 0.045


def _smile(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A line, bent up or down."""
    down, wide, bend = _mouth_place(build), choices.between(0.05, 0.09), choices.between(-0.02, 0.035)
    points = [
        (down, -wide),
        (down + bend, -wide * 0.5),
        (down + 1.3 * bend, 0.0),
        (down + bend, wide * 0.5),
        (down, wide),
    ]
    drawing.line(points, 0.014, INK)


def _open_mouth(drawing: Drawing, build: Build, choices: Choices) -> None:
    """An open mouth with a tongue and teeth."""
    down, wide, deep = _mouth_place(build) - 0.012, choices.between(0.06, 0.095), choices.between(0.05, 0.075)
    lips = rounded(
        [(down, -wide), (down + 0.01, 0.0), (down, wide), (down + deep, wide * 0.7), (down + deep, -wide * 0.7)]
    )
    throat = drawing.fill(lips, (92, 24, 40))
    drawing.fill(oval((down + deep, 0.0), (deep * 0.42, wide * 0.5)), (222, 104, 112), throat)
    half = choices.between(0.012, 0.02)
    for place in choices.of(((-0.5, 0.5), (-0.6, -0.15, 0.15, 0.6), (0.0,), (-0.45, -0.12))):
        across = place * wide
        tooth = [(down - 0.01, across - half), (down + 0.03, across - 0.5 * half), (down + 0.03, across + 0.5 * half)]
        drawing.fill([*tooth, (down - 0.01, across + half)], build.gleams[1], throat)
    drawing.line([*lips[::2], lips[0]], 0.008, INK)


def _zigzag(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A zigzag of a mouth."""
    down, wide, deep = _mouth_place(build), choices.between(0.06, 0.09), choices.between(0.012, 0.02)
    points = [(down + deep * (step % 2), wide * (step - 3) / 3) for step in range(7)]
    drawing.line(points, 0.012, INK)


def draw_brows(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Draw brows that frown or look surprised, or none."""
    lift, slant = choices.between(0.008, 0.03), choices.of((-0.025, 0.0, 0.025, None, None))
    if slant is None:
        return
    down, (near, far) = -build.reach[0] - lift, (build.reach[1] * 0.25, build.reach[1] * 0.85)
    for side in (-1, 1):
        drawing.line([(down + slant, side * near), (down - slant, side * far)], 0.02, shade(build.skin, 0.45))


HeadPart = Callable[[Drawing, Build, Choices], None]
CROWNS: tuple[HeadPart, ...] = (no_part, _horns, _horns, _ears, _antennae, _spikes)
HATS: tuple[HeadPart, ...] = (no_part, no_part, no_part, _cap, _tall_hat)
MOUTHS: tuple[HeadPart, ...] = (_smile, _smile, _open_mouth, _open_mouth, _zigzag)
