"""Cartoon eyes, painted on a finished figure so that nothing outside them depends on their colour."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
import numpy as np
from salgen.generators.drawing.choices import Tint
from salgen.generators.drawing.shapes import oval, window_around
from salgen.generators.figures.drawing import Drawing, Placement
from salgen.types import Float64, Mask

INK: Tint = (26, 20, 34)
SHINE: Tint = (226, 232, 244)
Layers = tuple[tuple[slice, slice], Float64, Float64, Float64]
OUTLINE = 0.008  # share of the figure's unit; it lies within the eye's radii


@dataclass(frozen=True)
class Eye:
    """One eye in figure coordinates."""

    # middle, radii: (down, across), outline included
    middle: tuple[float, float]
    radii: tuple[float, float]
    pupil: float  # its radius as a share of the eye's
    gaze: tuple[float, float]  # position of the pupil, in shares of the eye's radii


def reach_of(eyes: Mapping[str, Eye]) -> tuple[float, float]:
    """The extent of eyes: the farthest that they reach up, and aside."""
    up = max(eye.radii[0] - eye.middle[0] for eye in eyes.values())
    return up, max(eye.radii[1] + abs(eye.middle[1]) for eye in eyes.values())


def paint_eye(canvas: Float64, eye: Eye, frame: Placement, tint: Tint) -> None:
    """Paint an eye on a canvas, float64 (H, W, 3) in [0, 1], in place; `tint` is that of its white."""
    window, ink, white, coverage = _layers(eye, frame, (canvas.shape[0], canvas.shape[1]))
    part = canvas[window]
    part *= 1.0 - coverage[..., np.newaxis]
    part += ink + white[..., np.newaxis] * (np.array(tint) / 255.0)


def support_of(eye: Eye, frame: Placement, image_size: tuple[int, int]) -> Mask:
    """Every pixel that `paint_eye` paints on, bool (H, W)."""
    window, _, _, coverage = _layers(eye, frame, image_size)
    support = np.zeros(image_size, dtype=bool)
    support[window] = coverage > 0
    return support


@lru_cache(maxsize=8)  # an image, its twin and their regions need the same two eyes one after the other
def _layers(eye: Eye, frame: Placement, image_size: tuple[int, int]) -> Layers:
    """The part of the image that holds an eye, and its layers there.

    Ink is outline, pupil and shine, float64 (h, w, 3), multiplied by their coverage. White and coverage are the shares
    of each pixel that the white of the eye covers, and any of the eye, float64 (h, w).
    """
    rows, columns = window = window_around(frame.places(oval(eye.middle, eye.radii)), image_size)
    inner = Placement((frame.origin[0] - rows.start, frame.origin[1] - columns.start), frame.side, frame.turn)
    drawing = Drawing((rows.stop - rows.start, columns.stop - columns.start), inner)
    white = _draw(drawing, eye)
    ink, coverage = drawing.picture()
    return window, ink, drawing.share(white), coverage


def _draw(drawing: Drawing, eye: Eye) -> int:
    """Draw an eye whose white is black so far, and return the number of that colour."""
    drawing.fill(oval(eye.middle, eye.radii), INK)
    radii = eye.radii[0] - OUTLINE, eye.radii[1] - OUTLINE
    white = drawing.fill(oval(eye.middle, radii), (0, 0, 0))
    size = eye.pupil * min(radii)
    looked_at = eye.middle[0] + eye.gaze[0] * radii[0], eye.middle[1] + eye.gaze[1] * radii[1]
    drawing.fill(oval(looked_at, (size * 1.1, size)), INK, white)
    shine = looked_at[0] - 0.4 * size, looked_at[1] - 0.35 * size
    drawing.fill(oval(shine, (size * 0.3, size * 0.3)), SHINE, white)
    return white
