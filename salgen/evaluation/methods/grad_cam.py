"""Grad-CAM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from salgen.evaluation.layers import last_spatial_layer
from salgen.evaluation.methods.declarations import Explanation
from salgen.evaluation.model_view import ModelView
from salgen.evaluation.passes import Wanted
from salgen.evaluation.request import Request
from salgen.parameters import param

NAMES = ("grad-cam",)


@dataclass(frozen=True)
class GradCam(Explanation):
    """A layer's channels, each weighted by its mean gradient, summed and rectified."""

    name: ClassVar[str] = "grad-cam"
    reference: ClassVar[str] = "Selvaraju et al. 2017, Grad-CAM: visual explanations from deep networks"
    reduction: ClassVar[str] = "sum"  # of one channel
    signed: ClassVar[bool] = False

    layer: str | None = param(None, "dotted name of the module; by default the model's own choice")

    def wanted(self, model: ModelView, image: Tensor) -> Wanted:
        """The layer."""
        return Wanted(layers=frozenset({self._layer(model, image)}))

    def _layer(self, model: ModelView, image: Tensor) -> str:
        return self.layer or model.cam_layer or last_spatial_layer(model, image)

    def attribute(self, request: Request) -> Tensor:
        """Non-negative (n, 1, h, w) at the layer's resolution, neither scaled nor shifted."""
        layer = self._layer(request.model, request.inputs[:1])
        activations, gradients = request.activations(layer), request.gradients(layer)
        weights = gradients.mean(dim=(2, 3), keepdim=True)
        return (weights * activations).sum(dim=1, keepdim=True).clamp(min=0)
