"""Torchvision's convolutional networks, whole or in narrow versions of the same depth and layer names."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar
from salgen.errors import SalgenError
from salgen.evaluation.models.weight_sources import FromTorchvision, Seams, check_image_size, he_uniform
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn

# Every count of channels, units and groups in these networks is a multiple of this.
STEPS = 32
WHOLE = Fraction(1)
OUTPUT_STRIDE = "pixels from one cell of the last maps to the next; fewer for small images"


@dataclass(frozen=True)
class Convolutional(FromTorchvision):
    """A convolutional network of torchvision's, whose channels can be fewer."""

    quick: ClassVar = {"width": 1 / 16}
    smallest = 1  # pixels that each side of an image must have at least

    width: float = param(1.0, "share of the architecture's channels, in steps of 1/32", low=1 / STEPS, high=4.0)
    output_stride: int = param(32, OUTPUT_STRIDE, choices=(8, 16, 32))

    def __post_init__(self) -> None:
        super().__post_init__()
        steps = max(1, round(self.width * STEPS))
        if self.width * STEPS != steps:
            raise SalgenError(
                f"{self.name}: width = {self.width:g}: must be a multiple of 1/32, such as {steps / STEPS:g}"
            )

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network: torchvision's own start, or He-uniform layers where the size is another."""
        import torch
        from torchvision.models import get_model

        check_image_size(self.name, self.smallest, image_size)
        share = Fraction(round(self.width * STEPS), STEPS)
        # Weights that are about to be replaced need neither memory nor random numbers.
        with nullcontext() if share == 1 else torch.device("meta"):
            network: nn.Module = get_model(self.architecture, weights=None, num_classes=classes)
        resize(network, self.seams, channels, share)
        refine(network, 32 // self.output_stride)
        return network


def refine(network: nn.Module, times: int) -> None:
    """Make all maps `times` finer: the first layers that halve them keep their size."""
    from torch import nn

    for module in network.modules():
        if times > 1 and isinstance(module, nn.Conv2d) and module.stride != (1, 1):
            module.stride = (1, 1)
            times //= 2
        elif times > 1 and isinstance(module, nn.MaxPool2d):
            padding: Any = module.padding
            module.kernel_size = 2 * padding + 1
            module.stride = 1
            times //= 2


def resize(network: nn.Module, seams: Seams, channels: int, share: Fraction = WHOLE) -> None:
    """Fit a network to images of that many channels, and its layers to a share of theirs; new layers are He-uniform."""
    for name, module in list(network.named_modules()):
        resized = _resized_layer(module, name, seams, channels, share)
        if resized is not None:
            network.set_submodule(name, resized.apply(he_uniform))


def _resized_layer(module: nn.Module, name: str, seams: Seams, channels: int, share: Fraction) -> nn.Module | None:
    """A layer like `module` in its new size, or None where the size stays."""
    from torch import nn

    if isinstance(module, nn.Conv2d):
        before = channels if name == seams.input else int(module.in_channels * share)
        if share == 1 and before == module.in_channels:
            return None
        groups = 1 if module.groups == 1 else int(module.groups * share)
        return nn.Conv2d(
            before,
            int(module.out_channels * share),
            module.kernel_size,  # type: ignore[arg-type]
            module.stride,  # type: ignore[arg-type]
            module.padding,  # type: ignore[arg-type]
            groups=groups,
            bias=module.bias is not None,
        )
    if share == 1:
        return None
    if isinstance(module, nn.BatchNorm2d):
        return nn.BatchNorm2d(int(module.num_features * share))
    if isinstance(module, nn.Linear):
        after = module.out_features if name == seams.logits else int(module.out_features * share)
        return nn.Linear(int(module.in_features * share), after)
    return None
