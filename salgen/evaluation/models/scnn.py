"""A small convolutional network that ends in global average pooling."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.evaluation.models.weight_sources import FromFile, Seams, check_image_size, he_uniform
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class SCNN(FromFile):
    """Four blocks of a 3x3 convolution and a max pool, then the mean of each channel and a linear layer.

    Szczepankiewicz et al. 2023 train an "SCNN" that they do not describe; this one is salgen's.
    Weights start He-uniform, biases at zero.
    """

    name = "scnn"
    reference = (
        "salgen's own; Szczepankiewicz et al. 2023 name an SCNN without its layers, doi:10.1038/s41598-023-42946-w"
    )
    quick: ClassVar = {"widths": (4, 4, 8, 8)}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {}, "small": {}, "full": {}}
    training: ClassVar = {"demo": {"learning_rate": 3e-3, "epochs": 12}, "small": {"learning_rate": 3e-3, "epochs": 12}}
    seams = Seams(input="block1.conv", offset="block1.conv.bias", logits="logits")

    widths: tuple[int, ...] = param((32, 64, 128, 128), "channels of each block; each block halves the image", low=1)

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network; a side of an image has at least 2 to the number of blocks."""
        from torch import nn

        check_image_size(self.name, 2 ** len(self.widths), image_size)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for number, (before, after) in enumerate(zip((channels, *self.widths), self.widths, strict=False), start=1):
            convolution = nn.Conv2d(before, after, 3, padding="same")
            block = OrderedDict(conv=convolution, relu=nn.ReLU(), pool=nn.MaxPool2d(2))
            layers[f"block{number}"] = nn.Sequential(block)
        layers["average"] = nn.AdaptiveAvgPool2d(1)
        layers["flatten"] = nn.Flatten()
        layers["logits"] = nn.Linear(self.widths[-1], classes)
        network = nn.Sequential(layers)
        network.apply(he_uniform)
        return network

    def cam_layer(self, network: nn.Module) -> str:
        """The last block's ReLU, before its pool."""
        return f"block{len(self.widths)}.relu"
