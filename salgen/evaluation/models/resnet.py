"""Residual networks with batch norm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.evaluation.models.convolutional import Convolutional
from salgen.evaluation.models.weight_sources import Seams

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class _Residual(Convolutional):
    reference = "He et al. 2016, Deep residual learning for image recognition, doi:10.1109/CVPR.2016.90"
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {"width": 0.25}, "small": {"width": 0.25}, "full": {}}
    training: ClassVar = {"demo": {"epochs": 12}, "small": {"epochs": 12}}
    seams = Seams(input="conv1", offset="bn1.running_mean", logits="fc")

    def cam_layer(self, network: nn.Module) -> str:
        """The last residual block."""
        return f"layer4.{len(network.get_submodule('layer4')) - 1}"  # type: ignore[arg-type]


@dataclass(frozen=True)
class ResNet18(_Residual):
    """Eight residual blocks of two 3x3 convolutions."""

    name = "resnet18"
    architecture = "resnet18"
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {"width": 0.25}, "small": {"width": 0.5}, "full": {}}


@dataclass(frozen=True)
class ResNet50(_Residual):
    """Sixteen residual blocks, each a 3x3 convolution between two of 1x1."""

    name = "resnet50"
    architecture = "resnet50"


@dataclass(frozen=True)
class ResNeXt50(_Residual):
    """ResNet-50 with twice the channels in its 3x3 convolutions, in 32 groups of them."""

    name = "resnext50"
    reference = (
        "Xie et al. 2017, Aggregated residual transformations for deep neural networks, doi:10.1109/CVPR.2017.634"
    )
    architecture = "resnext50_32x4d"
