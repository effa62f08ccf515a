"""A traffic light: housing, visors and dark lenses; and the glow of the lamp that is lit.

Everything is measured in a frame that stands, leans and turns with the housing. Only sums, products, quotients
and square roots are taken, so that every machine draws the same bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
import numpy as np
from salgen.generators.drawing.shapes import Colour, paint
from salgen.types import Float64

PITCH = 0.315  # from lens to lens, in heights of the housing
LENS = 0.115  # radius of a lens, in heights of the housing
BLACK, GLASS = (0.025, 0.025, 0.03), (0.13, 0.134, 0.142)
BORDERS = ((0.78, 0.66, 0.16), (0.74, 0.74, 0.72), (0.16, 0.16, 0.17))  # reflective, painted white, plain
SOLID = 0.8  # the part of a lens's radius in which the lamp hides what is behind it
RED_FULL = ((1.0, 0.06, 0.10), (1.0, 0.24, 0.04))  # from pure to amber-ish red
GREEN_FULL = ((0.22, 1.0, 0.30), (0.02, 0.95, 0.78))  # from green to blue-green
LUMA = (0.299, 0.587, 0.114)


@dataclass(frozen=True, eq=False)
class HousingCoordinates:
    """The position of each pixel relative to the housing."""

    # down, across: float64 (H, W), in pixels, from the centre of the housing
    down: Float64
    across: Float64
    # of the housing, in pixels
    height: float

    @property
    def lens(self) -> float:
        """The radius of a lens in pixels."""
        return LENS * self.height

    def box(self, centre: Sequence[float], half: Sequence[float], corner: float = 0.0) -> Float64:
        """Coverage of a box with round corners, float64 (H, W); (down, across) in heights of the housing."""
        over = [
            np.abs(axis - middle * self.height) - (extent - corner) * self.height
            for axis, middle, extent in zip((self.down, self.across), centre, half, strict=True)
        ]
        outer = [np.maximum(axis, 0.0) for axis in over]
        beyond = np.sqrt(outer[0] * outer[0] + outer[1] * outer[1]) + np.minimum(np.maximum(*over), 0.0)
        return np.asarray(np.clip(0.5 - (beyond - corner * self.height), 0.0, 1.0))

    def radii(self, position: int, up: float = 0.0) -> Float64:
        """Each pixel's distance from a lens, from a point `up` radii above it, in radii, float64 (H, W)."""
        down = self.down - ((position - 1) * PITCH * self.height - up * self.lens)
        return np.asarray(np.sqrt(down * down + self.across * self.across) / self.lens)

    def disc(self, position: int, size: float = 1.0, up: float = 0.0) -> Float64:
        """Coverage of a disc of `size` lens radii, float64 (H, W)."""
        return np.asarray(np.clip(0.5 + (size - self.radii(position, up)) * self.lens, 0.0, 1.0))


def housing_coordinates(pose: Mapping[str, float], image_size: tuple[int, int]) -> HousingCoordinates:
    """The coordinates of a housing in a pose.

    - ``row``, ``column``: its centre in image heights and widths.
    - ``height``: in shorter sides of the image.
    - ``lean``: columns per row.
    - ``width``: the factor by which it appears wider than it is.
    """
    rows = (np.arange(image_size[0]) + 0.5 - pose["row"] * image_size[0])[:, np.newaxis]
    columns = (np.arange(image_size[1]) + 0.5 - pose["column"] * image_size[1])[np.newaxis]
    cosine = 1.0 / float(np.sqrt(1.0 + pose["lean"] * pose["lean"]))
    sine = pose["lean"] * cosine
    down, across = rows * cosine + columns * sine, (columns * cosine - rows * sine) / pose["width"]
    return HousingCoordinates(down, across, pose["height"] * min(image_size))


def paint_housing(canvas: Float64, frame: HousingCoordinates, look: Mapping[str, Any]) -> None:
    """Paint pole, border plate, housing, visors and three unlit lenses on a canvas (H, W, 3) in place, by a look.

    - ``colour``: of the housing.
    - ``pole``: 0 below, 1 above, 2 both.
    - ``plate``, ``border``: half its width beyond the housing's, in heights (0 for none); number of the border colour.
    - ``side``, ``light``: where the light is, from -1 to 1; its strength, from 0 to 1.
    """
    light, side = look["light"], look["side"]
    colour = np.asarray(look["colour"]) * (0.25 + 0.75 * light)
    grey, far = np.asarray((0.40, 0.41, 0.42)) * (0.12 + 0.88 * light), 3.0
    for middle in ((far,), (-far,), (far, -far))[look["pole"]]:
        paint(canvas, grey * 0.6, frame.box((middle, 0.0), (far, 0.045)))
        paint(canvas, grey, frame.box((middle, -0.01), (far, 0.022)))
    if beyond := look["plate"]:
        border = np.asarray(BORDERS[look["border"]]) * (0.1 + 0.8 * light)
        half = (0.5 + beyond, 0.19 + beyond)
        paint(canvas, border, frame.box((0.0, 0.0), half, 0.05))
        paint(canvas, BLACK, frame.box((0.0, 0.0), (half[0] - 0.022, half[1] - 0.022), 0.04))
    half = (0.5, 0.19)
    paint(canvas, colour * 0.45, frame.box((0.0, 0.0), half, 0.035))
    shade = 1.0 + 0.45 * side * np.clip(frame.across / (0.19 * frame.height), -1.0, 1.0)
    paint(canvas, shade[..., np.newaxis] * colour, frame.box((0.0, 0.0), (0.488, 0.176), 0.03))
    for position in range(3):
        _paint_section(canvas, frame, position, colour, light, side)


def lamp_alpha(frame: HousingCoordinates, position: int, halo: float, glow: float) -> Float64:
    """The opacity of the lit lamp, float64 (H, W) in [0, 1]; it falls with the distance from the lens, 0 to 2.

    The halo ends at `halo` lens radii, above 1; `glow` is its strength at the rim of the lens, below a half.
    """
    radii = frame.radii(position)
    rim = np.clip((1.0 - radii) / (1.0 - SOLID), 0.0, 1.0)
    outside = np.clip((halo - radii) / (halo - 1.0), 0.0, 1.0)
    return np.asarray(np.where(radii < 1.0, glow + (1.0 - glow) * rim * rim * (3.0 - 2.0 * rim), glow * outside**2))


def lamp_colours(frame: HousingCoordinates, position: int, colour: Colour, heat: float) -> Float64:
    """The colours of the lamp, float64 (H, W, 3), turning to white by `heat` in the middle of the lens."""
    inside = np.clip(1.0 - frame.radii(position) / 0.85, 0.0, 1.0)[..., np.newaxis]
    white = heat * inside * inside * (3.0 - 2.0 * inside)
    return np.asarray(white + (1.0 - white) * np.asarray(colour))


def light_colour(ends: Sequence[Colour], tone: float, luma: float) -> Float64:
    """A colour between two ends, float64 (3,), dimmed or whitened until it has the given luma."""
    full = np.asarray(ends[0]) * (1.0 - tone) + np.asarray(ends[1]) * tone
    own = float(LUMA[0] * full[0] + LUMA[1] * full[1] + LUMA[2] * full[2])
    if luma <= own:
        return np.asarray(full * (luma / own))
    return np.asarray(full + (1.0 - full) * ((luma - own) / (1.0 - own)))


def _paint_section(
    canvas: Float64, frame: HousingCoordinates, position: int, colour: Float64, light: float, side: float
) -> None:
    """Paint one lens with its visor, which casts a shadow on the upper part of the glass."""
    paint(canvas, colour * 1.5 + 0.02, frame.disc(position, 1.36, up=0.10))
    paint(canvas, colour * 0.8, frame.disc(position, 1.27, up=0.06))
    paint(canvas, BLACK, frame.disc(position, 1.14, up=0.02))
    lens = frame.disc(position, 0.98)
    below = np.clip((frame.down / frame.lens - (position - 1) * PITCH / LENS + 0.9) / 1.8, 0.0, 1.0)
    glass = (0.35 + 0.9 * below * (0.2 + 0.8 * light))[..., np.newaxis] * np.asarray(GLASS)
    paint(canvas, glass, lens)
    glint = np.minimum(frame.disc(position, 0.9), 1.0 - frame.disc(position, 0.95, up=0.16 + 0.06 * side))
    paint(canvas, (0.5, 0.51, 0.53), glint * (0.05 + 0.3 * light))
