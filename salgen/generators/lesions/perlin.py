"""Perlin noise behind lesions.

The field on a lattice is separable: a small matrix product per axis. Operands are multiples of 2**-24 and the first
product is rounded to 2**-25, so all sums are exact in float64 on every machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.generators.interfaces import Scale
from salgen.generators.lesions.brains import BrainBank
from salgen.generators.lesions.lesions import Lesions
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float64

ANGLE_BITS = 16


@dataclass(frozen=True)
class PerlinLesions(Lesions):
    """Dark lesions on Perlin noise in the shape of a brain (Budding et al. 2021).

    One octave, less its minimum over the whole image, cut to the brain and divided by its maximum there.

    With `lesions=1` a stand-in for cancer-xai (Cancer-XAI of Saliency-Bench): one small dark spot, or none. A number
    from it is not a number on Cancer-XAI.

    References
    ----------
    Budding et al. 2021, *Evaluating saliency methods on artificial data with different background types*,
    doi:10.48550/arXiv.2112.04882.
    """

    name: ClassVar[str] = "perlin-lesions"
    scales: ClassVar[Mapping[str, Scale]] = {
        **Lesions.scales,
        "full": Scale(Lesions.scales["full"].splits, {"image_size": (140, 192), "lattice": (5, 8)}),
    }

    lattice: tuple[int, int] = param(
        (3, 3), "lattice periods along rows and columns; cells need not be whole pixels", low=1, high=512
    )

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """Perlin fields, from zero up."""
        gradients = np.stack([lattice_gradients(parameters["field"], self.lattice) for parameters in batch])
        return from_zero(perlin_fields(gradients, self.image_size))


def lattice_gradients(key: int, lattice: tuple[int, int]) -> Float64:
    """Unit gradients on the lattice points, float64 (2, rows + 1, columns + 1): row part, column part.

    The angle is uniform over 2**16 directions.
    """
    rows, columns = lattice[0] + 1, lattice[1] + 1
    directions = Stream.from_key(key, "perlin").words(rows * columns) >> np.uint64(64 - ANGLE_BITS)
    return _directions()[:, directions.astype(np.int64).reshape(rows, columns)]


def perlin_fields(gradients: Float64, image_size: tuple[int, int]) -> Float64:
    """One octave of Perlin noise, float64 (N, H, W), for lattice gradients, float64 (N, 2, rows + 1, columns + 1).

    A lattice cell is H / rows by W / columns pixels. Values are in about [-1, 1]: sqrt(2) times the faded sum of
    gradient times offset, with the fade 6t^5 - 15t^4 + 10t^3 (Perlin 2002).
    """
    count, periods = len(gradients), gradients.shape[2] - 1
    weight_x, ramp_x = _axis(image_size[1], gradients.shape[3] - 1)
    across = np.stack([gradients[:, 0] @ weight_x.T, gradients[:, 1] @ ramp_x.T], axis=2)
    across = _fixed(across, 25).reshape(count, 2 * (periods + 1), image_size[1])
    fields = np.empty((count, *image_size))
    for cell, (rows, down) in enumerate(_cells(image_size[0], periods)):
        np.matmul(down, across[:, 2 * cell : 2 * cell + 4], out=fields[:, rows])
    return fields


def from_zero(fields: Float64) -> Float64:
    """Each field of (N, H, W) less its minimum, in place; a constant field becomes ones.

    The minimum is taken over the whole image; what the field is divided by later is its maximum in the brain.
    """
    fields -= fields.min(axis=(1, 2), keepdims=True)
    fields[fields.max(axis=(1, 2)) == 0.0] = 1.0
    return fields


def _fixed(values: NDArray[Any], bits: int) -> Float64:
    """Values rounded to multiples of 2**-bits."""
    return np.asarray(np.rint(values * 2.0**bits) * 2.0**-bits)


@lru_cache(maxsize=1)
def _directions() -> Float64:
    angles = np.arange(2**ANGLE_BITS) * (2.0 * np.pi / 2**ANGLE_BITS)
    return _fixed(np.stack([np.cos(angles), np.sin(angles)]), 24)


@lru_cache(maxsize=64)
def _cells(pixels: int, periods: int) -> list[tuple[slice, Float64]]:
    """For each lattice row the pixel rows below it, and what two lattice rows give to them.

    The second is float64 (rows, 4): offset weight and weight of the lattice row above, then of the one
    below. A pixel hears of no other lattice row, and sqrt(2) is a factor of them all.
    """
    weight, ramp = (np.sqrt(2.0) * part for part in _axis(pixels, periods))
    bounds = [-(-cell * pixels // periods) for cell in range(periods + 1)]
    spans = [slice(start, stop) for start, stop in pairwise(bounds)]
    parts = [np.stack([part[rows, k : k + 2] for part in (ramp, weight)], axis=2) for k, rows in enumerate(spans)]
    return [(rows, _fixed(part, 24).reshape(-1, 4)) for rows, part in zip(spans, parts, strict=True)]


@lru_cache(maxsize=64)
def _axis(pixels: int, periods: int) -> tuple[Float64, Float64]:
    """For one axis the fade weight, and weight times offset, of each lattice point at each pixel.

    Both float64 (pixels, periods + 1).
    """
    position = np.arange(pixels) * periods / pixels
    cell = np.floor(position).astype(np.int64)
    offset = position - cell
    fade = offset**3 * (offset * (offset * 6.0 - 15.0) + 10.0)
    weight, ramp = np.zeros((2, pixels, periods + 1))
    pixel = np.arange(pixels)
    weight[pixel, cell], weight[pixel, cell + 1] = 1.0 - fade, fade
    ramp[pixel, cell], ramp[pixel, cell + 1] = (1.0 - fade) * offset, fade * (offset - 1.0)
    return _fixed(weight, 24), _fixed(ramp, 24)
