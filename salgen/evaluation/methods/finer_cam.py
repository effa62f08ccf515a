"""Finer-CAM: Grad-CAM of a class against those that score most like it."""

from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, differentiable, weighted
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.models.inspection.layers import layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param

NAMES = ("finer-cam",)


@dataclass(frozen=True)
class FinerCam(ClassActivation):
    """Grad-CAM of the target's logit less `alpha` times those of the classes with the nearest logits.

    The differences are averaged with the classes' probabilities as weights. As in the authors' code these are
    differentiated too. For each layer it costs a forward and a backward pass. A score of margins changes nothing.
    """

    name: ClassVar[str] = "finer-cam"
    reference: ClassVar[str] = (
        "Zhang et al. 2025b, Finer-CAM: spotting the difference for fine-grained visual explanation, "
        "doi:10.48550/arXiv.2501.11309"
    )
    in_all: ClassVar[bool] = False

    alpha: float = param(1.0, "how much the other classes' logits count", low=0.0)
    classes: int = param(3, "number of classes to compare with, or all others if they are fewer", low=1)

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The layers; gradients come from passes of their own."""
        return PassRequirements(layers=frozenset(self.layers_of(model, image)))

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        logits, output = differentiable(layer, context)
        if logits.shape[1] < 2:
            raise SalgenError("finer-cam compares classes, and this model has one: choose grad-cam")
        own = logits.gather(1, context.targets[:, None])
        distances = (logits - own).detach().abs().scatter(1, context.targets[:, None], torch.inf)
        others = distances.argsort(dim=1, stable=True)[:, : min(self.classes, logits.shape[1] - 1)]
        weights = context.model.probabilities(logits).gather(1, others)
        differences = own - self.alpha * logits.gather(1, others)
        value = (weights * differences).sum(dim=1) / (weights.sum(dim=1) + 1e-9)
        (gradient,) = torch.autograd.grad(value.sum(), output)
        channels = layer_grid(context.model, context.inputs, layer).channels(gradient)
        activations = context.activations(layer)
        return weighted(channels.to(activations).mean(dim=(2, 3), keepdim=True), activations).clamp(min=0)
