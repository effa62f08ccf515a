"""T1-weighted slices behind lesions.

Every sample varies the bank's slice before the lesions are painted: the contrast of tissues, texture, a bias field as
a receive coil leaves it, and Rician noise. Nothing filters the image afterwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar
import numpy as np
import scipy
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.interfaces import Context
from salgen.generators.lesions.brains import BrainBank
from salgen.generators.lesions.lesions import Lesions
from salgen.generators.lesions.slicing import TOP
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float64

BIAS_CELLS = (2, 2)


@dataclass(frozen=True)
class MriLesions(Lesions):
    """Dark lesions on slices of T1-weighted MRI (Budding et al. 2021).

    The slices are oblique cuts through the source's volumes, varied per sample.

    References
    ----------
    Budding et al. 2021, *Evaluating saliency methods on artificial data with different background types*,
    doi:10.48550/arXiv.2112.04882.
    """

    name: ClassVar[str] = "mri-lesions"
    authors_sum: ClassVar[bool] = False

    contrast: float = param(0.5, "how much the intensity curve of the tissues varies", low=0.0, high=1.0)
    texture: float = param(0.12, "largest relative change of intensity by texture", low=0.0, high=0.99)
    texture_scale: float = param(3.0, "pixels over which texture varies", low=1.0)
    bias: float = param(0.3, "largest relative change of intensity by the bias field", low=0.0, high=0.99)
    noise: float = param(0.02, "deviation of the Rician noise, where the brightest tissue is 1", low=0.0, high=1.0)

    def draw_background(self, context: Context) -> dict[str, Any]:
        """Two numbers in [-1, 1) that shape the intensity curve, and the stream key of all fields."""
        curve = context.stream("mri-curve").uniform(2, -1.0, 1.0).tolist()
        return {"curve": curve, "field": context.stream("mri").key()}

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """The samples' slices with their variation."""
        return np.stack([self._background(parameters, bank) for parameters in batch])

    def _background(self, parameters: Mapping[str, Any], bank: BrainBank) -> Float64:
        key = parameters["field"]
        values = bank.slices[parameters["slice"]] / TOP
        if self.contrast:
            values = tissue_curve(values, *(self.contrast / 2.0 * shape for shape in parameters["curve"]))
        if self.texture:
            rows, columns = (max(1, round(extent / self.texture_scale)) for extent in self.image_size)
            texture = smooth_field(Stream.from_key(key, "texture"), self.image_size, (rows, columns))
            values *= 1.0 + self.texture * texture
        if self.bias:
            values *= 1.0 + self.bias * smooth_field(Stream.from_key(key, "bias"), self.image_size, BIAS_CELLS)
        return rician(values, self.noise, Stream.from_key(key, "noise")) if self.noise else values


def tissue_curve(values: Float64, lift: float, steepen: float) -> Float64:
    """A rising curve through (0, 0) and (1, 1): x + lift x(1-x) + steepen x(1-x)(2x-1).

    It rises if the magnitudes add up to less than 1; `lift` brightens grey matter more, `steepen` parts or joins them.
    """
    return np.asarray(values + values * (1.0 - values) * (lift + steepen * (2.0 * values - 1.0)))


def rician(values: Float64, deviation: float, stream: Stream) -> Float64:
    """The magnitude of a complex signal (H, W) with Gaussian noise in both parts (Gudbjartsson & Patz 1995)."""
    count = 2 * values.size
    words = stream.words(-(-count // 4)).astype("<u8")  # each gives four of 2**16 equally likely values
    real, imaginary = deviation * _quantiles()[words.view("<u2")[:count]].reshape(2, *values.shape)
    return np.asarray(np.sqrt((values + real) ** 2 + imaginary**2))


@lru_cache(maxsize=1)
def _quantiles() -> Float64:
    """Normal quantiles at 2**16 midpoints, in multiples of 2**-24 so that a platform's rounding does not show."""
    return np.asarray(np.rint(scipy.special.ndtri((np.arange(2**16) + 0.5) / 2**16) * 2.0**24) / 2.0**24)
