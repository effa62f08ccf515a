"""Base of networks that are designed rather than trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from salgen.errors import SalgenError
from salgen.evaluation.models import Model

if TYPE_CHECKING:
    from torch import Tensor, nn
    from salgen.evaluation.models.classifier import Classifier


@dataclass(frozen=True)
class DesignedNetwork(Model):
    """A network with weights in closed form: write ``design(generator)``."""

    generator: ClassVar[str]  # the generator whose images it is made for, and whose exact attribution is its own
    quick: ClassVar[Mapping[str, Any]] = {}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {}, "small": {}, "full": {}}

    def design(self, generator: Any) -> Classifier:
        """The network for images of a generator with its parameters."""
        raise NotImplementedError

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> NoReturn:
        """Refused: there is nothing to train."""
        raise SalgenError(
            f"{self.name} is designed, not trained: evaluate it on a data set of {self.generator}, as in "
            f"salgen evaluate DATA --model {self.name}"
        )

    def cam_layer(self, network: nn.Module) -> None:
        """Named by :meth:`design`."""


def set_weights(layer: Any, weight: Any, bias: Any = None) -> nn.Module:
    """A layer with these weights, and biases or zeros."""
    import torch

    with torch.no_grad():
        layer.weight.copy_(torch.as_tensor(weight))
        layer.bias.copy_(torch.as_tensor(bias if bias is not None else torch.zeros_like(layer.bias)))
    module: nn.Module = layer
    return module


def channel_identity(channels: int, height: int, width: int) -> Tensor:
    """The kernel of a convolution that adds up each channel over its window, (C, C, height, width)."""
    import torch

    return torch.eye(channels)[:, :, None, None].expand(-1, -1, height, width)
