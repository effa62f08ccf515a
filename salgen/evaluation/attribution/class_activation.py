"""The base of the CAM family: the choice of layers, and the combination of their maps."""

from dataclasses import dataclass
from typing import Any
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.models.inspection.layers import default_layer, find_layer, layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace, hooked
from salgen.parameters import param

ALL_LAYERS = "all"


@dataclass(frozen=True)
class ClassActivation(Method):
    """A map made of a layer's channels, and for most methods of the score's gradients there.

    Several layers give one channel each, resized bilinearly to the finest of their resolutions.
    """

    family = "CAM"
    signed = False
    resolution = "the layer's"
    defined_for = "networks with a layer whose channels show an image: a map, or tokens on a grid"
    reads_gradients = True
    own_passes = False  # whether it takes the gradients that it reads from passes of its own

    layer: str | None = param(
        None, "dotted module names joined by +, or all: the last of each resolution; by default the model's own choice"
    )

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse layers that are unknown, do not run, or give no channels of an image."""
        for layer in self.layers_of(model, image):
            layer_grid(model, image, layer)

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The layers, with the gradients there if the method reads them."""
        layers = frozenset(self.layers_of(model, image))
        shared = self.reads_gradients and not self.own_passes
        return PassRequirements(gradients=layers) if shared else PassRequirements(layers=layers)

    def attribute(self, context: AttributionContext) -> Tensor:
        """One channel per layer, (n, L, h, w), neither scaled nor shifted."""
        layers = self.layers_of(context.model, context.inputs[:1])
        return together([self.map_at(layer, context) for layer in layers])

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """The map of one layer, (n, 1, h, w), at its resolution."""
        raise NotImplementedError

    def layers_of(self, model: ModelView, image: Tensor) -> tuple[str, ...]:
        """The named layers, else the one that the model names, else the last that every path passes through."""
        if self.layer == ALL_LAYERS:
            return self.all_layers(model, image)
        if self.layer:
            return layer_names(self.layer)
        return (default_layer(model, image),)

    def all_layers(self, model: ModelView, image: Tensor) -> tuple[str, ...]:
        """The last rectified layer of each resolution."""
        stages = NetworkTrace.of(model, image).stages
        if not stages:
            raise SalgenError(
                f"{self.name} takes the last layer of each resolution that ends in a ReLU, and this network has none: "
                "name layers, joined by +, or choose another method, such as grad-cam"
            )
        return stages


def layer_names(text: str) -> tuple[str, ...]:
    """``"layer3+layer4"`` as names."""
    names = tuple(name.strip() for name in text.split("+"))
    if "" in names or len(set(names)) < len(names):
        raise SalgenError(f"layers {text!r}: must be different names joined by +, such as layer3+layer4")
    return names


def together(maps: list[Tensor]) -> Tensor:
    """Maps (n, 1, h, w) of several resolutions as channels of the finest."""
    finest = max((m.shape[2:] for m in maps), key=lambda size: size[0] * size[1])
    return torch.cat([resize(m, finest) for m in maps], dim=1)


def weighted(weights: Tensor, activations: Tensor) -> Tensor:
    """The sum over channels of weights times activations, (n, 1, h, w)."""
    return (weights * activations).sum(dim=1, keepdim=True)


def differentiable(layer: str, context: AttributionContext) -> tuple[Tensor, Tensor]:
    """Logits (n, C), and the output of the layer's last call that they come from, with the graph between them.

    Attention is written out, as its fused kernels have no second derivative.
    """
    kept: list[Tensor] = []

    def keep(_module: nn.Module, _inputs: Any, output: Tensor) -> Tensor:
        kept.append(output if output.requires_grad else output.detach().requires_grad_())
        return kept[-1].clone()  # what follows may work in place

    with torch.enable_grad(), hooked([(find_layer(context.model, layer), keep)]), sdpa_kernel(SDPBackend.MATH):
        logits = context.model.logits(context.inputs)
    return logits, kept[-1]
