"""MobileNetV2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.evaluation.models.convolutional import OUTPUT_STRIDE, refine, resize
from salgen.evaluation.models.weight_sources import FromTorchvision, Seams
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class MobileNetV2(FromTorchvision):
    """Seventeen inverted residual blocks of depthwise 3x3 convolutions."""

    name = "mobilenet-v2"
    reference = (
        "Sandler et al. 2018, MobileNetV2: Inverted residuals and linear bottlenecks, doi:10.1109/CVPR.2018.00474"
    )
    quick: ClassVar = {"width": 1 / 16}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {"width": 0.25}, "small": {"width": 0.25}, "full": {}}
    training: ClassVar = {"demo": {"epochs": 12}, "small": {"epochs": 12}}
    architecture = "mobilenet_v2"
    seams = Seams(input="features.0.0", offset="features.0.1.running_mean", logits="classifier.1")

    width: float = param(1.0, "share of the architecture's channels, rounded to multiples of 8", low=0.01, high=4.0)
    output_stride: int = param(32, OUTPUT_STRIDE, choices=(8, 16, 32))

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network of torchvision's."""
        from torchvision.models import mobilenet_v2

        network: nn.Module = mobilenet_v2(num_classes=classes, width_mult=self.width)
        resize(network, self.seams, channels)
        refine(network, 32 // self.output_stride)
        return network

    def cam_layer(self, network: nn.Module) -> str:
        """The last convolution, with its batch norm and ReLU6."""
        return "features.18"
