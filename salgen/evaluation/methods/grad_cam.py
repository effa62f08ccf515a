"""Grad-CAM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from salgen.evaluation.layers import activations_and_gradients
from salgen.evaluation.methods.declarations import Explanation
from salgen.evaluation.request import Request

NAMES = ("grad-cam",)


@dataclass(frozen=True)
class GradCam(Explanation):
    """A layer's channels, each weighted by its mean gradient, summed and rectified."""

    name: ClassVar[str] = "grad-cam"
    reference: ClassVar[str] = "Selvaraju et al. 2017, Grad-CAM: visual explanations from deep networks"
    reduction: ClassVar[str] = "sum"  # of one channel
    signed: ClassVar[bool] = False

    def attribute(self, request: Request) -> Tensor:
        """Non-negative (n, 1, h, w) at the layer's resolution, neither scaled nor shifted."""
        activations, gradients = activations_and_gradients(request)
        weights = gradients.mean(dim=(2, 3), keepdim=True)
        return (weights * activations).sum(dim=1, keepdim=True).clamp(min=0)
