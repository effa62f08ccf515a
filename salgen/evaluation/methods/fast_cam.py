"""Fast-CAM: where the activations of several layers vary most over channels, times a class activation map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.layers import as_channels, check_layer, find_layer
from salgen.evaluation.layout import Layout, hooked
from salgen.evaluation.methods.class_activation import ClassActivation, layer_names, together
from salgen.evaluation.methods.grad_cam import grad_cam, grad_cam_plus_plus
from salgen.evaluation.methods.smoe import smoe_scale, squashed
from salgen.evaluation.model_view import ModelView
from salgen.evaluation.reductions import resize
from salgen.evaluation.request import Request
from salgen.parameters import param

NAMES = ("fast-cam", "fast-cam++")


@dataclass(frozen=True)
class FastActivation(ClassActivation):
    """The weighted mean of several layers' SMOE scale, times a class activation map in [0, 1].

    The SMOE scale of each layer is squashed by the distribution function of the gamma distribution
    fitted to it and resized bilinearly to the input; the class activation map is resized, then
    scaled by its minimum and maximum (zeros where it is constant). The paper weights the maps of
    five layers by 0.18, 0.15, 0.37, 0.40 and 0.72 where no class activation map takes part.
    """

    name: ClassVar[str]
    resolution: ClassVar[str] = "the input's"
    defined_for: ClassVar[str] = "networks with layers that end in a ReLU"

    layers: str | None = param(
        None, "dotted names of rectified layers joined by +; by default the last one of each resolution"
    )
    weights: tuple[float, ...] | None = param(None, "of the layers' maps, fine to coarse; equal by default", low=0.0)

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse layers without channels or with negative values, and weights that do not fit them."""
        super().check(model, image)
        layers = self._rectified(model, image)
        for layer in layers:
            check_layer(model, image, layer)
        self._shares(layers)
        _smoe_maps(self.name, model, image, layers)

    def attribute(self, request: Request) -> Tensor:
        """One channel in [0, 1], (n, 1, h, w)."""
        size = (request.inputs.shape[2], request.inputs.shape[3])
        layers = self._rectified(request.model, request.inputs[:1])
        maps = request.once.get(
            ("smoe scale", layers), lambda: _smoe_maps(self.name, request.model, request.inputs, layers)
        )
        shares = zip(self._shares(layers), maps, strict=True)
        activity = torch.stack([share * resize(m, size) for share, m in shares]).sum(dim=0)
        cams = [self.class_map(layer, request) for layer in self.layers_of(request.model, request.inputs[:1])]
        where = resize(together(cams).sum(dim=1, keepdim=True), size)
        return activity * _from_0_to_1(where)

    def class_map(self, layer: str, request: Request) -> Tensor:
        """The class activation map of a layer, (n, 1, h, w)."""
        raise NotImplementedError

    def _rectified(self, model: ModelView, image: Tensor) -> tuple[str, ...]:
        if self.layers:
            return layer_names(self.layers)
        stages = Layout.of(model, image).stages
        if not stages:
            raise SalgenError(
                f"{self.name} needs layers that end in a ReLU, and this network has none: choose another method"
            )
        return stages

    def _shares(self, layers: tuple[str, ...]) -> list[float]:
        """The weights, scaled to sum to one."""
        weights = (1.0,) * len(layers) if self.weights is None else self.weights
        if len(weights) != len(layers) or not sum(weights) > 0:
            raise SalgenError(
                f"{self.name}: weights = {','.join(f'{w:g}' for w in weights)}: must be {len(layers)}, one for each of "
                f"{'+'.join(layers)}, and not all 0"
            )
        return [weight / sum(weights) for weight in weights]


@dataclass(frozen=True)
class FastCam(FastActivation):
    """Where the activations of several layers vary most over channels, times Grad-CAM."""

    name: ClassVar[str] = "fast-cam"
    reference: ClassVar[str] = "Mundhenk et al. 2020, Efficient saliency maps for explainable AI"

    def class_map(self, layer: str, request: Request) -> Tensor:
        """Grad-CAM."""
        return grad_cam(layer, request)


@dataclass(frozen=True)
class FastCamPlusPlus(FastActivation):
    """Where the activations of several layers vary most over channels, times Grad-CAM++."""

    name: ClassVar[str] = "fast-cam++"
    reference: ClassVar[str] = "Mundhenk et al. 2020, Efficient saliency maps for explainable AI, with Grad-CAM++"

    def class_map(self, layer: str, request: Request) -> Tensor:
        """Grad-CAM++."""
        return grad_cam_plus_plus(layer, request)


def _smoe_maps(method: str, view: ModelView, inputs: Tensor, layers: tuple[str, ...]) -> list[Tensor]:
    """The squashed SMOE scale of each layer, (n, 1, h, w), by a forward pass without gradient.

    The shared pass would keep a graph from the first of these layers on.
    """
    maps: dict[str, Tensor] = {}

    def note(layer: str, _module: nn.Module, _inputs: Any, output: Tensor) -> None:
        maps[layer] = _smoe_map(method, as_channels(output, layer), layer)

    hooks = [(find_layer(view, layer), partial(note, layer)) for layer in layers]
    with torch.no_grad(), hooked(hooks):
        view.logits(inputs)
    return [maps[layer] for layer in layers]


def _smoe_map(method: str, activations: Tensor, layer: str) -> Tensor:
    if bool((activations < 0).any()):
        raise SalgenError(
            f"{method} takes logarithms of activations, and layer {layer!r} gives negative ones: choose layers that "
            "end in a ReLU with layers="
        )
    return squashed(smoe_scale(activations)).to(activations.dtype)


def _from_0_to_1(maps: Tensor) -> Tensor:
    low, high = maps.amin(dim=(2, 3), keepdim=True), maps.amax(dim=(2, 3), keepdim=True)
    return (maps - low) / torch.where(high > low, high - low, 1)
