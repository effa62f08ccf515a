"""Maps that weight a layer's channels by the score's gradient: CAM, Grad-CAM and its kin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, activations_at, gradients_at
from salgen.evaluation.attribution.pooled_head import before_global_pool, check_pooled_head
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param

NAMES = ("cam", "grad-cam", "grad-cam++", "xgrad-cam", "hires-cam", "layer-cam")

_EPSILON = 1e-6


@dataclass(frozen=True)
class Cam(ClassActivation):
    """A layer's channels, weighted as the linear layer after global average pooling weights them.

    The map's spatial mean is the logit less its bias (of a margin, the difference of two such).
    The weights come from the gradient, which is theirs divided by the number of pixels, wherever
    the method is defined.
    """

    name: ClassVar[str] = "cam"
    reference: ClassVar[str] = "Zhou et al. 2016, Learning deep features for discriminative localization"
    signed: ClassVar[bool] = True
    defined_for: ClassVar[str] = "networks whose layer goes through global average pooling into one linear layer"

    layer: str | None = param(
        None,
        "dotted name of the module, or several joined by +; by default the model's own choice, or a pool after it",
    )

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks whose logits are anything but a linear layer of the layer's spatial means."""
        super().check(model, image)
        for layer in self.layers_of(model, image):
            check_pooled_head(model, image, layer)

    def layers_of(self, model: ModelView, image: Tensor) -> tuple[str, ...]:
        """The layers that were named; else the model's, unless it is pooled before global pooling."""
        if self.layer:
            return super().layers_of(model, image)
        return (before_global_pool(model, image, *super().layers_of(model, image)),)

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Signed (n, 1, h, w)."""
        weights = gradients_at(layer, context).sum(dim=(2, 3), keepdim=True)
        return weighted(weights, activations_at(layer, context))


@dataclass(frozen=True)
class GradCam(ClassActivation):
    """A layer's channels, each weighted by its mean gradient, summed and rectified."""

    name: ClassVar[str] = "grad-cam"
    reference: ClassVar[str] = "Selvaraju et al. 2017, Grad-CAM: visual explanations from deep networks"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        return grad_cam(layer, context)


@dataclass(frozen=True)
class GradCamPlusPlus(ClassActivation):
    """A layer's channels, weighted by their positive gradients, each pixel's by the paper's closed form."""

    name: ClassVar[str] = "grad-cam++"
    reference: ClassVar[str] = "Chattopadhay et al. 2018, Grad-CAM++: generalized gradient-based visual explanations"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        return grad_cam_plus_plus(layer, context)


@dataclass(frozen=True)
class XGradCam(ClassActivation):
    """A layer's channels, each weighted by its mean gradient over its own activity, summed and rectified."""

    name: ClassVar[str] = "xgrad-cam"
    reference: ClassVar[str] = "Fu et al. 2020, Axiom-based Grad-CAM"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w); a channel that sums to zero has no weight."""
        activations, gradients = activations_at(layer, context), gradients_at(layer, context)
        total = activations.sum(dim=(2, 3), keepdim=True)
        share = torch.where(total == 0, 0, activations / torch.where(total == 0, 1, total))
        return weighted((gradients * share).sum(dim=(2, 3), keepdim=True), activations).clamp(min=0)


@dataclass(frozen=True)
class HiResCam(ClassActivation):
    """A layer's activations times their gradients, summed over channels and rectified."""

    name: ClassVar[str] = "hires-cam"
    reference: ClassVar[str] = "Draelos and Carin 2020, Use HiResCAM instead of Grad-CAM"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        return weighted(gradients_at(layer, context), activations_at(layer, context)).clamp(min=0)


@dataclass(frozen=True)
class LayerCam(ClassActivation):
    """A layer's activations, each weighted by its own positive gradient, summed over channels and rectified."""

    name: ClassVar[str] = "layer-cam"
    reference: ClassVar[str] = "Jiang et al. 2021, LayerCAM: exploring hierarchical class activation maps"

    scale: bool = param(False, "tanh(2 S / max S) of each layer's map S, as the paper has it for shallow layers")

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        values = weighted(gradients_at(layer, context).clamp(min=0), activations_at(layer, context)).clamp(min=0)
        if not self.scale:
            return values
        largest = values.amax(dim=(2, 3), keepdim=True)
        return torch.tanh(2 * values / torch.where(largest > 0, largest, 1))


def grad_cam(layer: str, context: AttributionContext) -> Tensor:
    """Grad-CAM of a layer, non-negative (n, 1, h, w), computed once for all methods that use it."""

    def compute() -> Tensor:
        weights = gradients_at(layer, context).mean(dim=(2, 3), keepdim=True)
        return weighted(weights, activations_at(layer, context)).clamp(min=0)

    return context.cache.get(("grad-cam", layer), compute)


def grad_cam_plus_plus(layer: str, context: AttributionContext) -> Tensor:
    """Grad-CAM++ of a layer, non-negative (n, 1, h, w), computed once for all methods that use it."""

    def compute() -> Tensor:
        gradients, activations = gradients_at(layer, context), activations_at(layer, context)
        return from_moments([gradients, gradients**2, gradients**3], activations)

    return context.cache.get(("grad-cam++", layer), compute)


def from_moments(moments: Sequence[Tensor], activations: Tensor) -> Tensor:
    """Grad-CAM++ from g, g² and g³, or from their means over noisy inputs.

    All are (n, K, h, w). The weight of channel k is the sum over space of alpha · ReLU(g) with
    alpha = g² / (2 g² + S g³ + 1e-6) and S the sum of A^k over space (equation 19).
    """
    first, second, third = moments
    total = activations.sum(dim=(2, 3), keepdim=True)
    denominator = 2 * second + total * third + _EPSILON
    alpha = torch.where(denominator == 0, 0, second / denominator)
    weights = (alpha * first.clamp(min=0)).sum(dim=(2, 3), keepdim=True)
    return weighted(weights, activations).clamp(min=0)


def weighted(weights: Tensor, activations: Tensor) -> Tensor:
    """The sum over channels of weights times activations, (n, 1, h, w)."""
    return (weights * activations).sum(dim=1, keepdim=True)
