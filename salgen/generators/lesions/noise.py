"""Other backgrounds behind lesions: 1/f noise, white noise, flat grey, and simplex noise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar
import numpy as np
from salgen.generators.interfaces import Context
from salgen.generators.lesions.brains import BrainBank
from salgen.generators.lesions.lesions import Lesions
from salgen.generators.lesions.perlin import from_zero
from salgen.import_paths import needed
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float64


@dataclass(frozen=True)
class PinkLesions(Lesions):
    """Dark lesions on 1/f^beta noise in the shape of a brain.

    White Gaussian noise whose power spectrum is multiplied by 1/f^beta, scaled to [0, 1].

    With `lesions=1` a stand-in for disease-xai (Disease-XAI of Saliency-Bench): one small dark spot, or none. A number
    from it is not a number on Disease-XAI.
    """

    name: ClassVar[str] = "pink-lesions"

    beta: float = param(1.0, "exponent of the power spectrum: 0 white, 1 pink, 2 like photographs", low=0.0, high=8.0)

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """Noise fields, from zero up."""
        spectrum = np.fft.rfft2(_white(batch, "pink", self.image_size)) * _amplitudes(self.image_size, self.beta)
        fields = np.fft.irfft2(spectrum, s=self.image_size)
        return from_zero(np.rint(fields * 2.0**24) * 2.0**-24)


@dataclass(frozen=True)
class WhiteLesions(Lesions):
    """Dark lesions on white Gaussian noise in the shape of a brain."""

    name: ClassVar[str] = "white-lesions"

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """Noise fields, from zero up."""
        return from_zero(_white(batch, "white", self.image_size))


@dataclass(frozen=True)
class UniformLesions(Lesions):
    """Dark lesions on one flat grey in the shape of a brain: nothing but the lesions to see."""

    name: ClassVar[str] = "uniform-lesions"

    def draw_background(self, context: Context) -> dict[str, Any]:
        """Nothing is random."""
        return {}

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """Ones."""
        return np.ones((len(batch), *self.image_size))


@dataclass(frozen=True)
class SimplexLesions(Lesions):
    """Dark lesions on simplex noise in the shape of a brain (needs the `noise` extra)."""

    name: ClassVar[str] = "simplex-lesions"

    lattice: tuple[int, int] = param((3, 3), "noise periods along rows and columns", low=1, high=256)

    def draw_background(self, context: Context) -> dict[str, Any]:
        """The image's offset in the noise plane, in 1/1024 of a period."""
        return {"offset": context.stream("simplex").integers(256 * 1024, 2).tolist()}

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """Noise fields, from zero up."""
        snoise2 = needed("noise", "simplex-lesions", "noise").snoise2
        (height, width), (rows, columns) = self.image_size, self.lattice
        fields = np.empty((len(batch), height, width))
        for field, parameters in zip(fields, batch, strict=True):
            top, left = (offset / 1024 for offset in parameters["offset"])
            for row in range(height):
                y = top + row * rows / height
                field[row] = [snoise2(left + column * columns / width, y) for column in range(width)]
        return from_zero(fields)


def _white(batch: Sequence[Mapping[str, Any]], purpose: str, image_size: tuple[int, int]) -> Float64:
    """Standard normal fields (N, H, W), one from each recipe's stream key."""
    count = image_size[0] * image_size[1]
    keys = [parameters["field"] for parameters in batch]
    return np.stack([Stream.from_key(key, purpose).normal(count).reshape(image_size) for key in keys])


@lru_cache(maxsize=16)
def _amplitudes(image_size: tuple[int, int], beta: float) -> Float64:
    """f^(-beta/2) over the half spectrum of rfft2, in cycles per pixel, zero at f = 0."""
    frequency = np.hypot(np.fft.fftfreq(image_size[0])[:, None], np.fft.rfftfreq(image_size[1])[None, :])
    frequency[0, 0] = np.inf
    return np.asarray(frequency ** (-beta / 2.0))
