"""The VGG networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.evaluation.models.convolutional import Convolutional
from salgen.evaluation.models.weight_sources import Seams

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class _VGG(Convolutional):
    reference = "Simonyan and Zisserman 2015, Very deep convolutional networks, doi:10.48550/arXiv.1409.1556"
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {"width": 0.25}, "small": {"width": 0.25}, "full": {}}
    training: ClassVar = {"demo": {"learning_rate": 5e-4, "epochs": 20}, "small": {"learning_rate": 5e-4, "epochs": 20}}
    seams = Seams(input="features.0", offset="features.0.bias", logits="classifier.6")
    smallest = 32  # five pools

    def cam_layer(self, network: nn.Module) -> str:
        """The last ReLU of the convolutions, before the last pool."""
        return f"features.{len(network.get_submodule('features')) - 2}"  # type: ignore[arg-type]


@dataclass(frozen=True)
class VGG16(_VGG):
    """Thirteen 3x3 convolutions in five blocks and three dense layers, without batch norm."""

    name = "vgg16"
    architecture = "vgg16"


@dataclass(frozen=True)
class VGG19(_VGG):
    """Sixteen 3x3 convolutions in five blocks and three dense layers, without batch norm."""

    name = "vgg19"
    architecture = "vgg19"


@dataclass(frozen=True)
class VGG11BN(_VGG):
    """Eight 3x3 convolutions with batch norm in five blocks, and three dense layers."""

    name = "vgg11-bn"
    architecture = "vgg11_bn"
    training: ClassVar = {"demo": {"learning_rate": 2e-3, "epochs": 12}, "small": {"learning_rate": 2e-3, "epochs": 12}}
    seams = Seams(input="features.0", offset="features.1.running_mean", logits="classifier.6")
