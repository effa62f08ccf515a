"""ShapleyCAM: Grad-CAM with the second-order term of a layer's channels."""

from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, differentiable, weighted
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.models.inspection.layers import layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param

NAMES = ("shapley-cam",)


@dataclass(frozen=True)
class ShapleyCam(ClassActivation):
    """A layer's channels, each weighted by the mean of its gradient less half the Hessian times the layer, rectified.

    The weights approximate Shapley values of the channels by a Taylor expansion of second order. The utility is the
    paper's ReST: the score plus the logarithm of the target's probability. With ``utility=score`` the second-order term
    is zero for most ReLU networks, and the map is Grad-CAM. For each layer it costs a forward pass and two backward
    passes.
    """

    name: ClassVar[str] = "shapley-cam"
    reference: ClassVar[str] = "Cai 2025, CAMs as Shapley value-based explainers, doi:10.48550/arXiv.2501.06261"
    in_all: ClassVar[bool] = False

    utility: str = param("rest", "what is expanded: ReST, or the score alone", choices=("rest", "score"))

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The layers; gradients come from passes of their own."""
        return PassRequirements(layers=frozenset(self.layers_of(model, image)))

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        logits, output = differentiable(layer, context)
        utility = (logits * context.start(logits)).sum(dim=1)
        if self.utility == "rest":
            probabilities = context.model.log_probabilities(logits)
            utility = utility + probabilities.gather(1, context.targets[:, None])[:, 0]
        (gradient,) = torch.autograd.grad(utility.sum(), output, create_graph=True)
        products = None
        if gradient.requires_grad:
            (products,) = torch.autograd.grad(gradient, output, output.detach(), allow_unused=True)
        second = gradient if products is None else gradient - products / 2
        channels = layer_grid(context.model, context.inputs, layer).channels(second.detach())
        activations = context.activations(layer)
        return weighted(channels.to(activations).mean(dim=(2, 3), keepdim=True), activations).clamp(min=0)
