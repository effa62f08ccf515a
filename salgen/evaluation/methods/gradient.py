"""The gradient, its product with the image, and its average over noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param
from salgen.seeding import Stream


@dataclass(frozen=True)
class Gradient(Method):
    """The gradient of the target's score at the input."""

    name = "gradient"
    family = "gradient"
    reference = "Simonyan et al. 2014, Deep inside convolutional networks, doi:10.48550/arXiv.1312.6034"
    reduction = "max_abs"

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The gradient at the input."""
        return PassRequirements(input_gradient=True)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        return context.passes.input_gradient()


@dataclass(frozen=True)
class InputXGradient(Gradient):
    """The gradient times the normalised input."""

    name = "input-x-gradient"
    shows_image = True
    reference = "Shrikumar et al. 2016, Not just a black box, doi:10.48550/arXiv.1605.01713"
    reduction = "sum"

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        return context.inputs * context.passes.input_gradient()


@dataclass(frozen=True)
class SmoothGrad(Method):
    """The mean gradient over noisy copies of the input.

    The noise is normal. The image's range is that of its normalised values. Channels are reduced after averaging. With
    ``average=square`` it is the mean of the squared gradient (SmoothGrad squared, Hooker et al. 2019), and with
    ``average=variance`` the gradient's variance (VarGrad, Adebayo et al. 2018), as in captum. It costs `n` forward and
    backward passes.
    """

    name = "smoothgrad"
    family = "gradient"
    cost = "50"
    reads_gradients = True
    reference = "Smilkov et al. 2017, SmoothGrad: removing noise by adding noise, doi:10.48550/arXiv.1706.03825"
    reduction = "max_abs"
    shares = None
    quick: ClassVar = {"n": 3}

    n: int = param(50, "noisy copies per image", low=1)
    noise: float = param(0.15, "standard deviation of the noise, as a share of the image's range", low=0.0)
    average: str = param("mean", "what is taken of the gradients", choices=("mean", "square", "variance"))

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        inputs, streams = context.inputs, context.streams(self.name)
        deviation, total, squares = self.noise * value_range(inputs), torch.zeros_like(inputs), torch.zeros_like(inputs)
        for _ in range(self.n):
            gradient = context.gradient(inputs + deviation * normal_noise(inputs, streams))
            total += gradient
            squares += gradient.square()
        mean, square = total / self.n, squares / self.n
        return {"mean": mean, "square": square, "variance": (square - mean.square()).clamp(min=0)}[self.average]


def normal_noise(inputs: Tensor, streams: Sequence[Stream]) -> Tensor:
    """Standard normal numbers, shaped as the inputs (n, C, h, w): the next ones of each of n streams."""
    drawn = np.stack([stream.normal(inputs[0].numel()) for stream in streams])
    return torch.from_numpy(drawn).to(inputs).view_as(inputs)


def value_range(inputs: Tensor) -> Tensor:
    """Each image's largest value minus its smallest, (n, 1, 1, 1)."""
    return inputs.amax(dim=(1, 2, 3), keepdim=True) - inputs.amin(dim=(1, 2, 3), keepdim=True)
