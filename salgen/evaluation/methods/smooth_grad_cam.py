"""Smooth Grad-CAM++: Grad-CAM++ from gradients averaged over noisy inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import (
    ClassActivation,
    activations_at,
    gradients_at,
    together,
)
from salgen.evaluation.attribution.input_noise import normal
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.methods.grad_cam import from_moments
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param

NAMES = ("smooth-grad-cam++",)


@dataclass(frozen=True)
class SmoothGradCamPlusPlus(ClassActivation):
    """Grad-CAM++ with the means of g, g² and g³ over noisy copies of the input.

    Activations are those of the image itself. The paper prints the mean of g for that of g² in the
    numerator of alpha; the square is what the derivation gives.
    """

    name: ClassVar[str] = "smooth-grad-cam++"
    reference: ClassVar[str] = (
        "Omeiza et al. 2019, Smooth Grad-CAM++: an enhanced inference level visualization technique"
    )
    shares: ClassVar[str | None] = None
    quick: ClassVar[Mapping[str, Any]] = {"n": 3}

    n: int = param(25, "noisy copies per image", low=1)
    noise: float = param(0.3, "standard deviation of the noise on normalised inputs", low=0.0)

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The layers; their gradients are read at noisy images only."""
        return PassRequirements(layers=frozenset(self.layers_of(model, image)))

    def attribute(self, context: AttributionContext) -> Tensor:
        """One channel per layer, non-negative (n, L, h, w)."""
        layers = self.layers_of(context.model, context.inputs[:1])
        moments = self._moments(layers, context)
        return together([from_moments(moments[layer], activations_at(layer, context)) for layer in layers])

    def _moments(self, layers: tuple[str, ...], context: AttributionContext) -> dict[str, list[Tensor]]:
        """The means of g, g² and g³ at each layer."""
        streams = context.streams(self.name)
        moments = {layer: [torch.zeros((), device=context.inputs.device)] * 3 for layer in layers}
        for _ in range(self.n):
            inputs = context.inputs + self.noise * normal(context.inputs, streams)
            noisy = context.again(PassRequirements(gradients=frozenset(layers)), inputs=inputs)
            for layer in layers:
                gradients = gradients_at(layer, noisy)
                moments[layer] = [m + gradients**k / self.n for k, m in enumerate(moments[layer], start=1)]
        return moments
