"""The stage of a scene: its camera, its dice, its inks, and the canvas that everything is painted on.

Places are (u, v, z): u to the right and v downwards in shares of the image at depth 1, z the depth. The floor is at
v = 1, and lines into the depth meet at the eye's point.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import count
import numpy as np
from salgen.generators.drawing.choices import Choices
from salgen.generators.drawing.shapes import paint
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.stand_ins.sceneries.sheet import STEPS, Ink, Sheet, mixed
from salgen.seeding import Stream
from salgen.types import Float64

Place = tuple[float, float]

BLOCK = 256  # numbers that are drawn at once
VARIETY = 14  # at most so many inks of a kind in a scene where each thing has its own


class Dice(Choices):
    """Choices without an end."""

    def __init__(self, stream: Stream) -> None:
        self._numbers = (number for _ in count() for number in reversed(stream.uniform(BLOCK).tolist()))


class Stage:
    """A scene in progress.

    The image shows a part of the scene, the `window`: its share of the whole, its left and its top.
    """

    def __init__(self, stream: Stream, image_size: tuple[int, int]) -> None:
        self.stream = stream
        self.image_size = image_size
        self.dice = Dice(stream)
        self.eye: Place = (0.5, 0.5)
        self.light: Float64 = np.ones(3)
        self.mirrored = self.dice.chance(0.5)
        self.canvas = np.full((*image_size, 3), 0.5)
        self.sheet = Sheet()
        share = self.dice.between(0.76, 1.0)
        self.window = (share, self.dice.between(0.0, 1.0 - share), self.dice.between(0.0, 1.0 - share))
        self._inks: dict[str, Ink] = {}

    def ink(self, name: str) -> Ink:
        """The scene's ink of a name, always the same; of a name that ends in "*", any of several."""
        if name.endswith("*"):
            name = f"{name[:-1]}1{self.dice.count(0, VARIETY - 1):02d}"
        if name not in self._inks:
            self._inks[name] = mixed(name, self.dice)
        return self._inks[name]

    def at(self, u: float, v: float, z: float) -> Place:
        """The projection of a place into the image, (x, y) in shares of its size."""
        x, y = self.eye
        return x + (u - x) / z, y + (v - y) / z

    def fill(self, points: Sequence[Place], ink: Ink, light: float = 1.0, fall: float = 0.0) -> None:
        """Add a shape over everything so far."""
        self.sheet.add(points, ink, light, fall)

    def rectangle(
        self, x0: float, y0: float, x1: float, y1: float, ink: Ink, light: float = 1.0, fall: float = 0.0
    ) -> None:
        """Add an upright rectangle over everything so far."""
        self.fill(((x0, y0), (x1, y0), (x1, y1), (x0, y1)), ink, light, fall)

    def places(self) -> tuple[Float64, Float64]:
        """The row of each pixel's middle, float64 (H, 1), and its column, (1, W), in shares of the whole scene."""
        share, left, top = self.window
        rows, columns = places(self.image_size)
        return top + share * rows, left + share * columns

    def row(self, y: float) -> int:
        """The image row at the scene's y, or the nearest one."""
        share, _, top = self.window
        return min(max(int((y - top) / share * self.image_size[0]), 0), self.image_size[0] - 1)

    def mean_of_row(self, row: int) -> Float64:
        """The mean colour of a row of the canvas, float64 (3,); colours are rounded, so that their sum is exact."""
        return np.asarray((np.rint(self.canvas[max(row, 0)] * STEPS) / STEPS).mean(axis=0))

    @cached_property
    def textures(self) -> list[Float64]:
        """Coarse, fine and upright texture, float64 (H, W) around 0."""
        return [self.field(cells) for cells in ((5, 5), (34, 34), (4, 40))]

    def field(self, cells: tuple[int, int]) -> Float64:
        """A smooth random field, float64 (H, W) in [-1, 1]."""
        return smooth_field(self.stream, self.image_size, cells)

    def flush(self, shadow: float = 0.3) -> Float64:
        """Paint the collected shapes on the canvas with a soft shadow around them; returns their coverage, (H, W)."""
        if not self.sheet:
            return np.zeros(self.image_size)
        drawn = self.sheet.drawn(self.image_size, self.window)
        self.sheet = Sheet()
        cover = drawn[..., 8]
        rows, _ = self.places()
        light = drawn[..., 3] + drawn[..., 4] * rows
        for number, texture in enumerate(self.textures, start=5):
            light += drawn[..., number] * texture
        light /= np.maximum(cover, 1 / 16)
        self.canvas *= (1.0 - shadow * _softened(cover, max(2, self.image_size[0] // 20)))[..., np.newaxis]
        self.canvas *= (1.0 - cover)[..., np.newaxis]
        self.canvas += drawn[..., :3] * self.light * np.maximum(light, 0.05)[..., np.newaxis]
        return np.asarray(cover)

    def wash(self, colour: Sequence[float] | Float64, cover: Float64) -> None:
        """Paint over everything so far, by a coverage that broadcasts to (H, W)."""
        self.flush()
        paint(self.canvas, colour, np.broadcast_to(cover, self.image_size))


def _softened(cover: Float64, width: int) -> Float64:
    """Means over squares; coverages are sums of sixteenths, so these sums are exact."""
    for axis in (0, 1):
        padded = np.concatenate([np.zeros_like(cover.take([0], axis)), np.cumsum(cover, axis=axis)], axis=axis)
        size = cover.shape[axis]
        index = np.arange(size)
        high, low = np.minimum(index + width // 2 + 1, size), np.maximum(index - width // 2, 0)
        span = (high - low).reshape((-1, 1) if axis == 0 else (1, -1))
        cover = (padded.take(high, axis) - padded.take(low, axis)) / span
    return cover


def places(image_size: tuple[int, int]) -> tuple[Float64, Float64]:
    """The row of each pixel's middle, float64 (H, 1), and its column, (1, W), in shares of the image."""
    rows = ((np.arange(image_size[0]) + 0.5) / image_size[0])[:, np.newaxis]
    columns = ((np.arange(image_size[1]) + 0.5) / image_size[1])[np.newaxis]
    return rows, columns
