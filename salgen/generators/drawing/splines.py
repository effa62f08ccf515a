"""Smooth random fields: cubic B-splines on a coarse lattice of random values.

Values and weights are multiples of 2**-16, so the two matrix products are exact in float64 on every machine.

References
----------
Unser 1999, *Splines: a perfect fit for signal and image processing* (IEEE SPM 16(6)), eq. 2 for n = 3.
"""

from functools import lru_cache
import numpy as np
from salgen.seeding import Stream
from salgen.types import Float64

STEPS = 2.0**16  # per unit


def smooth_field(stream: Stream, image_size: tuple[int, int], cells: tuple[int, int]) -> Float64:
    """A random field that varies over about one cell, float64 (H, W) in [-1, 1], of standard deviation about 0.28."""
    lattice = (cells[0] + 3, cells[1] + 3)
    values = np.rint(stream.uniform(lattice[0] * lattice[1], -STEPS, STEPS)) / STEPS
    down, across = (spline_weights(pixels, count) for pixels, count in zip(image_size, cells, strict=True))
    return np.asarray(down @ values.reshape(lattice) @ across.T)


@lru_cache(maxsize=64)
def spline_weights(pixels: int, cells: int) -> Float64:
    """The weight of each lattice value at each pixel centre, float64 (pixels, cells + 3); rows sum to 1."""
    position = (np.arange(pixels) + 0.5) * cells / pixels
    cell = np.floor(position).astype(np.int64)
    u = position - cell
    v = 1.0 - u
    cubes = [v**3, 3 * u**3 - 6 * u**2 + 4, 3 * v**3 - 6 * v**2 + 4, u**3]
    weights = np.zeros((pixels, cells + 3))
    for offset, cube in enumerate(cubes):
        weights[np.arange(pixels), cell + offset] = np.rint(cube / 6.0 * STEPS) / STEPS
    return weights
