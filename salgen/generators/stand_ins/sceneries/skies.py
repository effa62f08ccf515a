"""The open air: skies with weather, ridges of hills and rocks, masses of leaves, mist."""

import itertools
from collections.abc import Sequence
import numpy as np
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.stand_ins.sceneries.stage import Stage
from salgen.types import Float64

OCTAVES = (1.0, 0.62, 0.39, 0.24)  # heights of a skyline's bumps, each half as wide as the one before

# Colour at the top, colour at the horizon, factor of the light
SKIES = (
    ((0.26, 0.48, 0.82), (0.72, 0.84, 0.94), (1.00, 1.00, 0.98)),
    ((0.46, 0.64, 0.86), (0.86, 0.90, 0.92), (1.05, 1.03, 1.00)),
    ((0.62, 0.68, 0.74), (0.84, 0.85, 0.84), (0.86, 0.87, 0.90)),
    ((0.46, 0.50, 0.56), (0.68, 0.70, 0.70), (0.70, 0.72, 0.76)),
    ((0.40, 0.46, 0.68), (0.96, 0.70, 0.46), (1.00, 0.84, 0.66)),
    ((0.28, 0.28, 0.50), (0.90, 0.52, 0.46), (0.72, 0.60, 0.62)),
    ((0.12, 0.18, 0.36), (0.36, 0.42, 0.56), (0.58, 0.60, 0.74)),
    ((0.70, 0.76, 0.72), (0.92, 0.88, 0.76), (1.02, 0.98, 0.86)),
)


def sky(stage: Stage, *, clouds: float = 0.5) -> None:
    """Sky over the whole image, with clouds and at times the sun; everything drawn later stands in its light."""
    dice = stage.dice
    top, low, light = (np.asarray(part) for part in dice.of(SKIES))
    rows, columns = stage.places()
    share = np.clip(rows / max(stage.eye[1], 0.25), 0.0, 1.0)
    stage.canvas = np.broadcast_to((top + share[..., np.newaxis] * (low - top)), (*stage.image_size, 3)).copy()
    heap = stage.field((4, 3)) + 0.6 * stage.field((12, 7)) + 0.3 * stage.field((24, 16))
    cover = np.clip((heap + dice.between(-0.5, 0.5) + clouds - 0.5) * 2.2, 0.0, 0.85)
    bright = np.clip(low * 0.5 + 0.5 + 0.12 * stage.field((8, 6))[..., np.newaxis], 0.0, 1.0) * light
    stage.wash(bright * (1.0 - 0.2 * share[..., np.newaxis]), cover)
    if dice.chance(0.35):
        down, across = rows - dice.between(0.05, 0.3), columns - dice.draw()
        glow = np.clip(1.0 - 3.0 * np.sqrt(down * down + across * across), 0.0, 1.0)
        stage.wash(np.minimum(low * 1.2 + 0.1, 1.0), glow * glow * 0.9)
    stage.light = light


def profile(stage: Stage, corners: Sequence[tuple[float, float]]) -> Float64:
    """Straight lines through (x, height), float64 (1, W)."""
    _, columns = stage.places()
    heights = np.full(columns.shape, corners[0][1])
    for (x0, h0), (x1, h1) in itertools.pairwise(corners):
        heights = heights + (h1 - h0) * np.clip((columns - x0) / (x1 - x0), 0.0, 1.0)
    return heights


def ridge(
    stage: Stage,
    *,
    ink: str,
    foot: float,
    height: float,
    shape: Sequence[tuple[float, float]] = ((0.0, 0.5), (1.0, 0.5)),
    rough: float = 0.3,
    cells: int = 4,
    capped: float = 0.0,
    layers: float = 0.0,
    haze: float = 0.0,
    down: float = 1.0,
) -> None:
    """Land that rises by a height above its foot, in shares of the image, to a skyline of (x, share of the height).

    - ``rough``, ``cells``: the skyline's unevenness and number of bumps.
    - ``capped``: the share of the height that the snow of its summits reaches down, or 0.
    - ``layers``, ``haze``: the strength of level strata, and the share of the sky's colour over it.
    - ``down``: the row down to which it is drawn.
    """
    rows, _ = stage.places()
    width = stage.image_size[1]
    bumps = sum(
        share * smooth_field(stage.stream, (1, width), (1, cells * 2**octave)) for octave, share in enumerate(OCTAVES)
    )
    top = foot - height * (profile(stage, shape) + rough * bumps)
    side = stage.image_size[0]
    folds = stage.field((2, 3 * cells)) + 0.7 * stage.field((6, 7 * cells)) + 0.4 * stage.field((24, 30))
    facets = np.clip(folds * 3.0, -1.0, 1.0) * (0.5 + 0.5 * np.clip((rows - top) * 12.0, 0.0, 1.0))
    material = stage.ink(ink)
    texture = material.mottle * stage.textures[0] + material.grain * stage.textures[1]
    tone = np.maximum(1.0 + (0.14 + 0.4 * material.mottle) * facets + texture, 0.2)
    if layers:
        phase = (rows + 0.03 * stage.field((2, 3))) * 22.0
        tone = tone + layers * (4.0 * np.abs(phase - np.floor(phase) - 0.5) - 1.0)
    colour = tone[..., np.newaxis] * np.asarray(material.colour)
    if capped:
        line = top + height * (capped + 0.5 * stage.field((3, 14)) + 0.2 * facets)
        share = np.clip((line - rows) * side / 3.0, 0.0, 1.0)[..., np.newaxis]
        shaded = (1.0 + 0.18 * facets)[..., np.newaxis] * np.asarray(stage.ink("snow").colour)
        colour = colour + share * (shaded - colour)
    colour = colour * stage.light
    if haze:
        colour = colour + haze * (stage.mean_of_row(stage.row(float(top.min())) - 1) - colour)
    stage.wash(colour, np.clip((rows - top) * side + 0.5, 0.0, 1.0) * (rows < down))


def foliage(
    stage: Stage,
    *,
    ink: str,
    shape: Sequence[tuple[float, float]],
    low: float = 1.0,
    holes: float = 0.2,
    cells: int = 12,
    light: float = 1.0,
) -> None:
    """A mass of leaves below a ragged outline of (x, row of its upper edge), which ends at the row `low`.

    `holes` is the amount of gaps in it, and `cells` the clumps from top to bottom.
    """
    rows, _ = stage.places()
    clumps, leaves = stage.field((cells, cells)), stage.field((3 * cells, 3 * cells))
    inside = np.minimum(rows - profile(stage, shape), low - rows)
    cover = np.clip((np.minimum(inside * 22.0, 1.0) + 0.9 * clumps + 0.8 * leaves) * 3.0, 0.0, 1.0)
    cover = cover * np.clip((0.75 - holes + clumps + leaves) * 6.0, 0.0, 1.0)
    tone = np.clip(0.85 + 0.9 * clumps + 1.1 * leaves, 0.25, 1.7) * light
    stage.wash(tone[..., np.newaxis] * np.asarray(stage.ink(ink).colour) * stage.light, cover)


def mist(stage: Stage, *, ink: str, row: float, spread: float, most: float) -> None:
    """A soft level band: fog, steam, spray, glare."""
    rows, _ = stage.places()
    band = np.clip(1.0 - np.abs(rows - row) / spread, 0.0, 1.0)
    swirl = np.clip(0.8 + stage.field((5, 4)) + 0.6 * stage.field((10, 8)), 0.0, 1.4)
    stage.wash(stage.ink(ink).colour, np.clip(most * band * swirl, 0.0, 1.0))


def plume(stage: Stage, *, ink: str, x: float, top: float, foot: float, width: float, most: float = 0.9) -> None:
    """A column of smoke, spray or steam that widens upwards from its foot."""
    rows, columns = stage.places()
    share = np.clip((foot - rows) / (foot - top), 0.0, 1.0)
    billows = stage.field((9, 9)) + 0.6 * stage.field((20, 20))
    inside = width * (0.25 + share) - np.abs(columns - x - 0.12 * stage.field((4, 2)) * share)
    cover = np.clip(inside * 10.0 + billows, 0.0, 1.0) * (rows < foot) * np.clip((1.05 - share) * 4.0, 0.0, 1.0)
    tone = np.clip(1.0 + 0.5 * billows, 0.3, 1.5)
    stage.wash(tone[..., np.newaxis] * np.asarray(stage.ink(ink).colour), most * cover)
