"""Pictures with alpha, pasted on a canvas in windows that do not overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
import numpy as np
from numpy.typing import NDArray
from salgen.seeding import Stream
from salgen.types import Float64, Mask

Pixels = NDArray[np.uint8]
STEPS = 16  # a window without a place is made smaller by a sixteenth at a time


@dataclass(frozen=True)
class Window:
    """A rectangle of pixels: its upper left corner and its size."""

    row: int
    column: int
    height: int
    width: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """Rows and columns."""
        return slice(self.row, self.row + self.height), slice(self.column, self.column + self.width)


def placed(sizes: Sequence[tuple[int, int]], image_size: tuple[int, int], stream: Stream) -> list[Window]:
    """Windows of some sizes (h, w), one after the other, each in one of the places where it covers no other.

    All such places are equally likely. A window for which there is none is made smaller, in proportion, until there
    is one: as long as a pixel is free, that ends.
    """
    taken = np.zeros(image_size, dtype=bool)
    windows = []
    for height, width in sizes:
        for step in range(STEPS, 0, -1):
            size = max(height * step // STEPS, 1), max(width * step // STEPS, 1)
            free = _free(taken, size)
            places = np.flatnonzero(free)
            if len(places):
                break
        row, column = divmod(int(places[int(stream.integers(len(places), 1)[0])]), free.shape[1])
        windows.append(Window(row, column, *size))
        taken[windows[-1].slices] = True
    return windows


def paste(canvas: Float64, picture: Pixels, window: Window) -> None:
    """Lay a picture of a window's size on a canvas, float64 (H, W, 3) in [0, 1], in place, by its alpha."""
    alpha = picture[..., 3:] / 255.0
    canvas[window.slices] += alpha * (picture[..., :3] / 255.0 - canvas[window.slices])


def filled_box(mask: Mask) -> Mask:
    """The smallest rectangle that holds all pixels of a mask, as a mask; empty where that is."""
    box = np.zeros_like(mask)
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    if len(rows):
        box[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
    return box


def _free(taken: Mask, size: tuple[int, int]) -> Mask:
    """Places of a window's corner at which it lies in the image and covers nothing that is taken, bool."""
    height, width = size
    sums = np.pad(taken, ((1, 0), (1, 0))).astype(np.int64).cumsum(axis=0).cumsum(axis=1)
    covered = sums[height:, width:] - sums[:-height, width:] - sums[height:, :-width] + sums[:-height, :-width]
    return np.asarray(covered == 0)
