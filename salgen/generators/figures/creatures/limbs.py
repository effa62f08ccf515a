"""Limbs, cape, wings and tail of a cartoon creature."""

from salgen.generators.drawing.shapes import oval
from salgen.generators.figures.creatures.build import INK, LINE, Build, no_part
from salgen.generators.figures.creatures.choices import Choices, Tint, shade
from salgen.generators.figures.creatures.drawing import Drawing, rounded


def _cape(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A cape that flares towards the ground."""
    flare, wave = build.hips + choices.between(0.08, 0.16), choices.between(-0.03, 0.03)
    low = build.hem + choices.between(-0.02, 0.05)
    right = [(0.1, build.waist * 0.8), (0.2, build.waist + 0.03), (low + wave, flare), (low - 0.02, flare * 0.5)]
    left = [(low + 0.02, -flare * 0.4), (low - wave, -flare), (0.2, -build.waist - 0.03), (0.1, -build.waist * 0.8)]
    drawing.outlined(rounded(right + left), build.dress, INK, LINE)


def _wings(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A pair of small wings."""
    span, rise = build.waist + choices.between(0.14, 0.2), choices.between(-0.06, 0.02)
    for side in (-1, 1):
        tips = [(0.1, 0.0), (rise, span), (0.12, span * 0.92), (0.14, span * 0.78), (0.22, span * 0.75), (0.24, 0.0)]
        corners = [(down, across * side) for down, across in tips]
        drawing.outlined(rounded(corners, 2), shade(build.dress, 1.15), INK, LINE)


def _tail(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A tail with a tip."""
    side, rise = choices.of((-1, 1)), choices.between(0.1, 0.24)
    start, bend = (build.hem - 0.06, 0.0), (build.hem - 0.01, side * (build.hips + 0.07))
    end = (rise, side * (build.hips + 0.11))
    _limb(drawing, [start, bend, end], 0.035, build.skin)
    drawing.outlined(oval(end, (0.035, 0.028)), build.dress, INK, LINE)


def _limb(drawing: Drawing, points: list[tuple[float, float]], width: float, tint: Tint) -> None:
    drawing.line(points, width + 2 * LINE, INK)
    drawing.line(points, width, tint)


def draw_arms(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Draw two arms with round hands, each raised, hanging or bent."""
    width, glove = choices.between(0.035, 0.055), choices.of((build.skin, build.dress, build.pale))
    shoulder = (0.45 * build.hem, build.waist * 0.8)
    poses = [choices.of((_raised, _hanging, _bent)) for _ in range(2)]
    for side, pose in zip((-1, 1), poses, strict=True):
        elbow, hand = pose(build, choices)
        points = [(down, across * side) for down, across in (shoulder, elbow, hand)]
        _limb(drawing, points, width, shade(build.skin, 0.9))
        drawing.outlined(oval(points[-1], (width * 0.72, width * 0.72)), glove, INK, LINE)


def _raised(build: Build, choices: Choices) -> list[tuple[float, float]]:
    out = build.waist + choices.between(0.07, 0.1)
    return [(0.5 * build.hem, out), (choices.between(-0.1, 0.02), max(out, build.head) + 0.04)]


def _hanging(build: Build, choices: Choices) -> list[tuple[float, float]]:
    out = build.waist + choices.between(0.05, 0.08)
    return [(0.6 * build.hem, out), (choices.between(0.76, 0.9) * build.hem, max(out, build.hips + 0.04))]


def _bent(build: Build, choices: Choices) -> list[tuple[float, float]]:
    out = build.waist + choices.between(0.09, 0.12)
    return [(choices.between(0.55, 0.65) * build.hem, out), (0.8 * build.hem, build.hips * 0.95)]


def _legs(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two legs with shoes."""
    apart, long = build.hips * choices.between(0.4, 0.6), choices.between(0.07, 0.11)
    width, shoe = choices.between(0.04, 0.06), choices.of((build.dress, build.skin, INK))
    for side in (-1, 1):
        foot = (build.hem + long, side * (apart + 0.01))
        _limb(drawing, [(build.hem - 0.05, side * apart), foot], width, shade(build.skin, 0.85))
        toes = (foot[0] + 0.01, foot[1] + side * 0.018)
        drawing.outlined(oval(toes, (0.028, 0.05)), shade(shoe, 1.1), INK, LINE)


def _feet(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two big feet right under the body."""
    apart, big = build.hips * choices.between(0.4, 0.55), choices.between(0.06, 0.08)
    for side in (-1, 1):
        drawing.outlined(oval((build.hem, side * apart), (0.045, big)), build.dress, INK, LINE)


def _tentacles(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Four tentacles."""
    long = choices.between(0.06, 0.1)
    for place in (-0.72, -0.25, 0.25, 0.72):
        across, curl = place * build.hips, choices.between(-0.04, 0.04)
        points = [(build.hem - 0.06, across), (build.hem + 0.5 * long, across + curl), (build.hem + long, across)]
        _limb(drawing, points, 0.045, shade(build.skin, 0.85))


BACKS = (no_part, _cape, _wings, _tail)
STANDS = (_legs, _legs, _feet, _tentacles)
