"""Grad-CAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from salgen.evaluation.layers import activations_and_gradients
from salgen.evaluation.request import Request

NAMES = ("grad-cam",)


@dataclass(frozen=True)
class GradCam:
    """A layer's channels, each weighted by its mean gradient, summed and rectified."""

    name: ClassVar[str] = "grad-cam"
    reference: ClassVar[str] = "Selvaraju et al. 2017, Grad-CAM: visual explanations from deep networks"
    reduction: ClassVar[str] = "sum"  # of one channel
    signed: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = True
    control: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"model"})
    version: ClassVar[str] = "1"
    quick: ClassVar[Mapping[str, Any]] = {}

    def attribute(self, request: Request) -> Tensor:
        """Non-negative (n, 1, h, w) at the layer's resolution, neither scaled nor shifted."""
        activations, gradients = activations_and_gradients(request)
        weights = gradients.mean(dim=(2, 3), keepdim=True)
        return (weights * activations).sum(dim=1, keepdim=True).clamp(min=0)
