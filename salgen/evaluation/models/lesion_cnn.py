"""The eight-layer network that tells images with lesions from those without."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.evaluation.models import Model
from salgen.evaluation.models.weight_sources import check_image_size, he_uniform
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class LesionCNN(Model):
    """Blocks of two 3x3 convolutions and a max pool, then two dense layers (Budding et al. 2021).

    Weights start He-uniform, biases at zero. The paper's network, 32-64-128-256 wide without batch
    norm, is the default at scale ``full``; the narrower one with batch norm learns on a CPU.
    """

    name = "lesion-cnn"
    reference = (
        "Budding et al. 2021, Evaluating saliency methods on artificial data with different background types, "
        "doi:10.48550/arXiv.2112.04882"
    )
    quick: ClassVar = {"widths": (4, 8), "hidden": 8}
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

        check_image_size(self.name, 2 ** len(self.widths), image_size)
        height, width = (extent >> len(self.widths) for extent in image_size)
        layers: OrderedDict[str, nn.Module] = OrderedDict()
        for number, (before, after) in enumerate(zip((channels, *self.widths), self.widths, strict=False), start=1):
            layers[f"block{number}"] = self._block(before, after)
        layers["flatten"] = nn.Flatten()
        layers["hidden"] = nn.Linear(self.widths[-1] * height * width, self.hidden)
        layers["hidden_relu"] = nn.ReLU()
        layers["logits"] = nn.Linear(self.hidden, classes)
        network = nn.Sequential(layers)
        network.apply(he_uniform)
        return network

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
