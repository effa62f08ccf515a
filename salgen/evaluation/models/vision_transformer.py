"""The vision transformer, for images of any size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.errors import SalgenError
from salgen.evaluation.models.weight_sources import FromTorchvision, Seams
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class VisionTransformer(FromTorchvision):
    """A transformer over patches of the image, which is first resized to a square.

    Images are resized bilinearly within the network, so attributions have the image's own size. Torchvision starts the
    last layer at zero; here it starts at random, so an untrained network depends on its image too.
    """

    name = "vit-b-16"
    reference = "Dosovitskiy et al. 2021, An image is worth 16x16 words, doi:10.48550/arXiv.2010.11929"
    quick: ClassVar = {"side": 32, "patch": 8, "hidden": 16, "layers": 2, "heads": 2}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "demo": {"side": 64, "patch": 8, "hidden": 64, "layers": 4, "heads": 4},
        "small": {"side": 64, "patch": 8, "hidden": 96, "layers": 6, "heads": 4},
        "full": {},
    }
    training: ClassVar = {"demo": {"learning_rate": 1e-3, "epochs": 20}, "small": {"learning_rate": 1e-3, "epochs": 20}}
    architecture = "vit_b_16"
    seams = Seams(input="conv_proj", offset="conv_proj.bias", logits="heads.head")
    part = "vit"

    side: int = param(224, "pixels of each side of the square that images are resized to", low=1)
    patch: int = param(16, "pixels of each side of a patch", low=1)
    hidden: int = param(768, "numbers per token; the dense layers have four times as many units", low=1)
    layers: int = param(12, "encoder blocks", low=1)
    heads: int = param(12, "attention heads of each block", low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for whole, share in (("side", "patch"), ("hidden", "heads")):
            if getattr(self, whole) % getattr(self, share):
                raise SalgenError(
                    f"{self.name}: {whole} = {getattr(self, whole)} must be a multiple of {share} = "
                    f"{getattr(self, share)}: change one of them"
                )

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network, for images of any size: `resize`, then torchvision's `vit`."""
        from torch import nn
        from torchvision.models import VisionTransformer as Transformer

        vit = Transformer(
            self.side, self.patch, self.layers, self.heads, self.hidden, mlp_dim=4 * self.hidden, num_classes=classes
        )
        if channels != 3:
            vit.conv_proj = nn.Conv2d(channels, self.hidden, self.patch, self.patch)
            nn.init.trunc_normal_(vit.conv_proj.weight, std=(channels * self.patch**2) ** -0.5)
            nn.init.zeros_(vit.conv_proj.bias)
        vit.heads.head.reset_parameters()
        resize = nn.Upsample((self.side, self.side), mode="bilinear", align_corners=False)
        return nn.Sequential(OrderedDict(resize=resize, vit=vit))

    def cam_layer(self, network: nn.Module) -> str:
        """The last block's first layer norm, whose output is tokens (N, 1 + patches, hidden), the class token first."""
        return f"vit.encoder.layers.encoder_layer_{self.layers - 1}.ln_1"
