"""The gradient, and methods made of it directly."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from salgen.evaluation.attribution.attribution_context import AttributionContext, Explanation
from salgen.evaluation.attribution.input_noise import normal, range_of
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param

NAMES = ("gradient", "smoothgrad", "input-x-gradient")


@dataclass(frozen=True)
class Gradient(Explanation):
    """The gradient of the target's score at the input."""

    name: ClassVar[str] = "gradient"
    reference: ClassVar[str] = "Simonyan et al. 2014, Deep inside convolutional networks"
    reduction: ClassVar[str] = "max_abs"

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The gradient at the input."""
        return PassRequirements(input_gradient=True)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        return context.passes.input_gradient()


@dataclass(frozen=True)
class SmoothGrad(Explanation):
    """The mean gradient over noisy copies of the input.

    The noise is normal with `noise` times the image's range (maximum minus minimum of its
    normalised values) as standard deviation. Channels are reduced after averaging.
    """

    name: ClassVar[str] = "smoothgrad"
    reads_gradients: ClassVar[bool] = True
    reference: ClassVar[str] = "Smilkov et al. 2017, SmoothGrad: removing noise by adding noise"
    reduction: ClassVar[str] = "max_abs"
    shares: ClassVar[str | None] = None
    quick: ClassVar[Mapping[str, Any]] = {"n": 3}

    n: int = param(50, "noisy copies per image", low=1)
    noise: float = param(0.15, "standard deviation of the noise, as a share of the image's range", low=0.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        inputs, streams = context.inputs, context.streams(self.name)
        deviation, total = self.noise * range_of(inputs), torch.zeros_like(inputs)
        for _ in range(self.n):
            total += context.gradient(inputs + deviation * normal(inputs, streams))
        return total / self.n


@dataclass(frozen=True)
class InputXGradient(Explanation):
    """The gradient times the normalised input."""

    name: ClassVar[str] = "input-x-gradient"
    shows_image: ClassVar[bool] = True
    reference: ClassVar[str] = "Shrikumar et al. 2016, Not just a black box"
    reduction: ClassVar[str] = "sum"

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The gradient at the input."""
        return PassRequirements(input_gradient=True)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        return context.inputs * context.passes.input_gradient()
