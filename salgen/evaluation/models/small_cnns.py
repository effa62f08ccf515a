"""Small convolutional networks: the one of the lesion paper, and one that ends in global average pooling."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.evaluation.models.weight_sources import FromFile, FromScratch, Seams, check_image_size, he_uniform
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn

NAMES = ("lesion-cnn", "scnn")


@dataclass(frozen=True)
class LesionCNN(FromScratch):
    """Blocks of two 3x3 convolutions and a max pool, then two dense layers (Budding et al. 2021).

    Weights start He-uniform, biases at zero. The paper's network, 32-64-128-256 wide without batch
    norm, is the default at scale ``full``; the narrower one with batch norm learns on a CPU.
    """

    name: ClassVar[str] = "lesion-cnn"
    reference: ClassVar[str] = (
        "Budding et al. 2021, Evaluating saliency methods on artificial data with different background types, "
        "doi:10.48550/arXiv.2112.04882"
    )
    quick: ClassVar[Mapping[str, Any]] = {"widths": (4, 8), "hidden": 8}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "demo": {},
        "small": {},
        "full": {"widths": (32, 64, 128, 256), "batch_norm": False},
    }

    widths: tuple[int, ...] = param((8, 16, 32, 64), "channels of each block; each block halves the image", low=1)
    hidden: int = param(128, "units of the first dense layer", low=1)
    batch_norm: bool = param(True, "batch normalisation after each convolution")

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network; a side of an image has at least 2 to the number of blocks."""
        from torch import nn

        height, width = (extent >> len(self.widths) for extent in image_size)
        layers = _blocks(self.name, self._block, (channels, *self.widths), image_size)
        layers["flatten"] = nn.Flatten()
        layers["hidden"] = nn.Linear(self.widths[-1] * height * width, self.hidden)
        layers["hidden_relu"] = nn.ReLU()
        layers["logits"] = nn.Linear(self.hidden, classes)
        return nn.Sequential(layers).apply(he_uniform)

    def cam_layer(self, network: nn.Module) -> str:
        """The last block's second ReLU: the last place with spatial extent before its pool."""
        return f"block{len(self.widths)}.relu2"

    def _block(self, before: int, after: int) -> nn.Module:
        from torch import nn

        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for number, width in enumerate((before, after), start=1):
            layers[f"conv{number}"] = nn.Conv2d(width, after, 3, padding="same")
            if self.batch_norm:
                layers[f"norm{number}"] = nn.BatchNorm2d(after)
            layers[f"relu{number}"] = nn.ReLU()
        layers["pool"] = nn.MaxPool2d(2)
        return nn.Sequential(layers)


@dataclass(frozen=True)
class SCNN(FromFile):
    """Four blocks of a 3x3 convolution and a max pool, then the mean of each channel and a linear layer.

    Szczepankiewicz et al. 2023 train an "SCNN" that they do not describe; this one is salgen's.
    Weights start He-uniform, biases at zero.
    """

    name: ClassVar[str] = "scnn"
    reference: ClassVar[str] = (
        "salgen's own; Szczepankiewicz et al. 2023 name an SCNN without its layers, doi:10.1038/s41598-023-42946-w"
    )
    quick: ClassVar[Mapping[str, Any]] = {"widths": (4, 4, 8, 8)}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {}, "small": {}, "full": {}}
    training: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "demo": {"learning_rate": 3e-3, "epochs": 12},
        "small": {"learning_rate": 3e-3, "epochs": 12},
    }
    seams: ClassVar[Seams] = Seams(input="block1.conv", offset="block1.conv.bias", logits="logits")

    widths: tuple[int, ...] = param((32, 64, 128, 128), "channels of each block; each block halves the image", low=1)

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network; a side of an image has at least 2 to the number of blocks."""
        from torch import nn

        layers = _blocks(self.name, _block, (channels, *self.widths), image_size)
        layers["average"] = nn.AdaptiveAvgPool2d(1)
        layers["flatten"] = nn.Flatten()
        layers["logits"] = nn.Linear(self.widths[-1], classes)
        return nn.Sequential(layers).apply(he_uniform)

    def cam_layer(self, network: nn.Module) -> str:
        """The last block's ReLU, before its pool."""
        return f"block{len(self.widths)}.relu"


def _block(before: int, after: int) -> nn.Module:
    from torch import nn

    return nn.Sequential(
        OrderedDict(conv=nn.Conv2d(before, after, 3, padding="same"), relu=nn.ReLU(), pool=nn.MaxPool2d(2))
    )


def _blocks(
    name: str, block: Callable[[int, int], nn.Module], widths: Sequence[int], image_size: tuple[int, int]
) -> OrderedDict[str, nn.Module]:
    """Blocks that each halve the image, between these numbers of channels."""
    check_image_size(name, 2 ** (len(widths) - 1), image_size)
    return OrderedDict((f"block{number}", block(*pair)) for number, pair in enumerate(pairwise(widths), start=1))
