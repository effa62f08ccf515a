"""A cartoon creature fitted around a pair of eyes that are painted on it later.

Coordinates are (down, across) from the middle between the eyes, in shares of the image's shorter side.
"""

from collections.abc import Callable
from dataclasses import dataclass
from salgen.generators.drawing.choices import Choices, Tint, shade
from salgen.generators.drawing.shapes import oval
from salgen.generators.figures.drawing import INK, LINE, Drawing, rounded

Parts = tuple[Callable[..., None], ...]
SKINS: tuple[Tint, ...] = (
    (122, 92, 190),
    (64, 152, 150),
    (92, 164, 84),
    (206, 78, 84),
    (72, 124, 204),
    (214, 116, 168),
    (150, 104, 76),
    (116, 126, 148),
    (226, 132, 70),
    (60, 92, 120),
)


@dataclass(frozen=True)
class Build:
    """The measures and colours that a creature's parts share."""

    reach: tuple[float, float]  # extent of the eyes, (up, aside)
    # crown, hem: where the body begins and ends
    crown: float
    hem: float
    # head, waist, hips: half its width at the eyes, below them and near the hem
    head: float
    waist: float
    hips: float
    # skin, dress, pale, gleams: colours of the body, of what it wears, of its pale parts, and of buckle or buttons,
    # teeth and horns
    skin: Tint
    dress: Tint
    pale: Tint
    gleams: tuple[Tint, Tint, Tint]

    def outline(self, lean: float = 0.0) -> list[tuple[float, float]]:
        """The corners that the body's outline is rounded from."""
        right = [
            (self.crown, 0.55 * self.head),
            (self.crown * 0.5, self.head),
            (0.02, self.head * 1.02),
            (0.45 * self.hem, self.waist),
            (0.75 * self.hem, self.hips),
            (self.hem, 0.9 * self.hips),
        ]
        left = [(down, -across) for down, across in reversed(right)]
        return [(down, across + lean * down) for down, across in right + left]


def new_build(reach: tuple[float, float], gleams: tuple[Tint, Tint], choices: Choices) -> Build:
    """A random build around eyes of this extent (up, aside), in any colours."""
    up, aside = reach
    head = aside + choices.between(0.045, 0.085)
    skin = choices.near(choices.of(SKINS), 16)
    return Build(
        reach=reach,
        crown=-(up + choices.between(0.07, 0.12)),
        hem=choices.between(0.34, 0.42),
        head=head,
        waist=head * choices.between(0.7, 1.1),
        hips=head * choices.between(0.75, 1.25),
        skin=skin,
        dress=choices.near(choices.of([tint for tint in SKINS if abs(tint[0] - skin[0]) > 40]), 16),
        pale=shade(skin, choices.between(1.3, 1.5)),
        gleams=(choices.of(gleams), choices.of(gleams), choices.of(gleams)),
    )


def no_part(*_: object) -> None:
    """Draw nothing: a part that this creature does not have."""


def _cape(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A cape that flares towards the ground."""
    flare, wave = build.hips + choices.between(0.08, 0.16), choices.between(-0.03, 0.03)
    low = build.hem + choices.between(-0.02, 0.05)
    right = [(0.1, build.waist * 0.8), (0.2, build.waist + 0.03), (low + wave, flare), (low - 0.02, flare * 0.5)]
    left = [(low + 0.02, -flare * 0.4), (low - wave, -flare), (0.2, -build.waist - 0.03), (0.1, -build.waist * 0.8)]
    drawing.outlined(rounded(right + left), build.dress)


def _wings(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A pair of small wings."""
    span, rise = build.waist + choices.between(0.14, 0.2), choices.between(-0.06, 0.02)
    for side in (-1, 1):
        tips = [(0.1, 0.0), (rise, span), (0.12, span * 0.92), (0.14, span * 0.78), (0.22, span * 0.75), (0.24, 0.0)]
        corners = [(down, across * side) for down, across in tips]
        drawing.outlined(rounded(corners, 2), shade(build.dress, 1.15))


def _tail(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A tail with a tip."""
    side, rise = choices.of((-1, 1)), choices.between(0.1, 0.24)
    start, bend = (build.hem - 0.06, 0.0), (build.hem - 0.01, side * (build.hips + 0.07))
    end = (rise, side * (build.hips + 0.11))
    _limb(drawing, [start, bend, end], 0.035, build.skin)
    drawing.outlined(oval(end, (0.035, 0.028)), build.dress)


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
        drawing.outlined(oval(points[-1], (width * 0.72, width * 0.72)), glove)


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
        drawing.outlined(oval(toes, (0.028, 0.05)), shade(shoe, 1.1))


def _feet(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two big feet right under the body."""
    apart, big = build.hips * choices.between(0.4, 0.55), choices.between(0.06, 0.08)
    for side in (-1, 1):
        drawing.outlined(oval((build.hem, side * apart), (0.045, big)), build.dress)


def _tentacles(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Four tentacles."""
    long = choices.between(0.06, 0.1)
    for place in (-0.72, -0.25, 0.25, 0.72):
        across, curl = place * build.hips, choices.between(-0.04, 0.04)
        points = [(build.hem - 0.06, across), (build.hem + 0.5 * long, across + curl), (build.hem + long, across)]
        _limb(drawing, points, 0.045, shade(build.skin, 0.85))


BACKS: Parts = (no_part, _cape, _wings, _tail)
STANDS: Parts = (_legs, _legs, _feet, _tentacles)


def _horns(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two curved horns."""
    tall, root = choices.between(0.07, 0.11), build.head * choices.between(0.45, 0.6)
    lean = choices.between(-0.01, 0.07)
    low = build.crown + 0.05
    for side in (-1, 1):
        corners = [(low, root - 0.04), (low - 0.6 * tall, root), (build.crown - tall, root + lean)]
        corners += [(build.crown - tall, root + lean + 0.006), (low - 0.4 * tall, root + 0.06), (low, root + 0.04)]
        drawing.outlined(rounded([(d, a * side) for d, a in corners], 2), build.gleams[2])


def _ears(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two round ears."""
    radius, root = choices.between(0.05, 0.075), build.head * choices.between(0.6, 0.75)
    for side in (-1, 1):
        middle = (build.crown * 0.85, side * root)
        drawing.outlined(oval(middle, (radius, radius)), build.skin)
        drawing.fill(oval(middle, (radius * 0.55, radius * 0.55)), build.pale)


def _antennae(drawing: Drawing, build: Build, choices: Choices) -> None:
    """Two antennae with knobs."""
    spread, tall = choices.between(0.06, 0.13), choices.between(0.06, 0.1)
    for side in (-1, 1):
        tip = (build.crown - tall, side * spread)
        drawing.line(
            [(build.crown + 0.03, side * 0.04), (build.crown - 0.5 * tall, side * spread * 0.6), tip], 0.016, INK
        )
        drawing.outlined(oval(tip, (0.024, 0.024)), build.dress)


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
        drawing.outlined(rounded(corners, 1), build.dress)


def _cap(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A round cap with a brim and a knob."""
    brim, wide = build.crown + 0.02, build.head * choices.between(0.6, 0.75)
    tall = choices.between(0.06, 0.09)
    dome = [(brim, -wide), (brim - 1.3 * tall, -wide * 0.8), (brim - 1.3 * tall, wide * 0.8), (brim, wide)]
    drawing.outlined(rounded(dome), build.dress)
    drawing.outlined(oval((brim, 0.0), (0.016, wide * 1.15)), shade(build.dress, 0.75))
    drawing.outlined(oval((brim - tall - 0.015, 0.0), (0.02, 0.02)), build.pale)


def _tall_hat(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A tall hat with a band."""
    brim, wide = build.crown + 0.02, build.head * choices.between(0.4, 0.5)
    top = brim - choices.between(0.1, 0.14)
    felt = shade(build.dress, 0.6)
    drawing.outlined([(brim, -wide), (top, -wide * 1.1), (top, wide * 1.1), (brim, wide)], felt)
    drawing.fill([(brim - 0.04, -wide), (brim - 0.04, wide), (brim, wide), (brim, -wide)], build.pale)
    drawing.outlined(oval((brim, 0.0), (0.014, wide * 1.6)), felt)


def _smile(drawing: Drawing, build: Build, choices: Choices) -> None:
    """A line, bent up or down."""
    down, wide, bend = build.reach[0] + 0.045, choices.between(0.05, 0.09), choices.between(-0.02, 0.035)
    right = [(down + bend, wide * 0.5), (down, wide)]
    left = [(down, -wide), (down + bend, -wide * 0.5)]
    drawing.line([*left, (down + 1.3 * bend, 0.0), *right], 0.014, INK)


def _open_mouth(drawing: Drawing, build: Build, choices: Choices) -> None:
    """An open mouth with a tongue and teeth."""
    down, wide, deep = build.reach[0] + 0.045 - 0.012, choices.between(0.06, 0.095), choices.between(0.05, 0.075)
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
    down, wide, deep = build.reach[0] + 0.045, choices.between(0.06, 0.09), choices.between(0.012, 0.02)
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


CROWNS: Parts = (no_part, _horns, _horns, _ears, _antennae, _spikes)
HATS: Parts = (no_part, no_part, no_part, _cap, _tall_hat)
MOUTHS: Parts = (_smile, _smile, _open_mouth, _open_mouth, _zigzag)


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
    drawing.outlined(oval((down, 0.0), (half * 1.1, half * 1.3)), build.gleams[0])


def _buttons(drawing: Drawing, build: Build, choices: Choices, body: int) -> None:
    """Round buttons, with a hole that looks like a pupil."""
    radius = choices.between(0.022, 0.032)
    for number in range(choices.count(2, 3)):
        middle = ((0.95 - 0.16 * number) * build.hem - 0.02, 0.0)
        drawing.outlined(oval(middle, (radius, radius)), build.gleams[number])
        drawing.fill(oval(middle, (radius * 0.4, radius * 0.4)), INK)


MARKS: Parts = (no_part, _belly, _bands, _spots, _mask)
DRESSES: Parts = (no_part, _belt, _buttons, _buttons)


def draw_creature(drawing: Drawing, reach: tuple[float, float], gleams: tuple[Tint, Tint], choices: Choices) -> None:
    """Draw everything of a creature but its eyes, in a frame whose origin is between them.

    The eyes reach (up, aside). `gleams` are the colours that eyes may have, used here whatever the eyes' colour is.
    """
    build = new_build(reach, gleams, choices)
    choices.of(BACKS)(drawing, build, choices)
    choices.of(STANDS)(drawing, build, choices)
    draw_arms(drawing, build, choices)
    choices.of(CROWNS)(drawing, build, choices)
    body = _body(drawing, build, choices)
    choices.of(MARKS)(drawing, build, choices, body)
    choices.of(DRESSES)(drawing, build, choices, body)
    choices.of(HATS)(drawing, build, choices)
    choices.of(MOUTHS)(drawing, build, choices)
    draw_brows(drawing, build, choices)


def _body(drawing: Drawing, build: Build, choices: Choices) -> int:
    """Draw the body with a shaded side, and return the number of the first of its colours."""
    outline = rounded(build.outline(choices.between(-0.12, 0.12)))
    body = drawing.outlined(outline, shade(build.skin, 0.78))
    side = choices.of((-1.0, 1.0))
    drawing.fill(outline - (0.012, 0.024 * side), build.skin, over=body)
    return body
