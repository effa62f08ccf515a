"""ConvNeXt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.evaluation.models.convolutional import OUTPUT_STRIDE, resize
from salgen.evaluation.models.weight_sources import FromTorchvision, Seams, check_image_size
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class ConvNeXt(FromTorchvision):
    """Eighteen blocks of a depthwise 7x7 convolution, layer norm and GELU, in four stages."""

    name = "convnext-tiny"
    reference = "Liu et al. 2022, A ConvNet for the 2020s, doi:10.1109/CVPR52688.2022.01167"
    quick: ClassVar = {"width": 8, "depths": (1, 1, 1, 1)}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "demo": {"width": 24, "depths": (1, 1, 2, 1), "output_stride": 16},
        "small": {"width": 24, "depths": (1, 1, 2, 1), "output_stride": 16},
        "full": {},
    }
    training: ClassVar = {"demo": {"learning_rate": 2e-3, "epochs": 12}, "small": {"learning_rate": 2e-3, "epochs": 12}}
    architecture = "convnext_tiny"
    seams = Seams(input="features.0.0", offset="features.0.0.bias", logits="classifier.2")

    width: int = param(96, "channels of the first stage, twice as many in each next", low=1)
    depths: tuple[int, int, int, int] = param((3, 3, 9, 3), "blocks of each stage", low=1)
    output_stride: int = param(32, OUTPUT_STRIDE, choices=(8, 16, 32))

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network of torchvision's."""
        from torch import nn
        from torchvision.models.convnext import CNBlockConfig
        from torchvision.models.convnext import ConvNeXt as Network

        check_image_size(self.name, self.output_stride, image_size)
        sizes = [self.width << stage for stage in range(4)]
        stages = [
            CNBlockConfig(size, following, depth)
            for size, following, depth in zip(sizes, [*sizes[1:], None], self.depths, strict=True)
        ]
        network: nn.Module = Network(stages, stochastic_depth_prob=0.1, num_classes=classes)
        side = 4 * self.output_stride // 32  # a patch's
        if side < 4:
            patches = nn.Conv2d(channels, self.width, side, side)
            nn.init.trunc_normal_(patches.weight, std=0.02)
            nn.init.zeros_(patches.bias)  # type: ignore[arg-type]
            network.set_submodule(self.seams.input, patches)
        resize(network, self.seams, channels)
        return network

    def cam_layer(self, network: nn.Module) -> str:
        """The last stage."""
        return "features.7"
