"""Networks that can be trained: one module for each, and the base of a model plug-in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Model:
    """A registered model, whose fields are its parameters: write ``build`` and ``cam_layer``.

    By default it takes images as they are and starts from the weights that it was built with.
    """

    name: ClassVar[str]  # registered name
    reference: ClassVar[str]  # where the network was described
    quick: ClassVar[Mapping[str, Any]]  # parameters of a small version, for the conformance checks
    # scale name to the parameters in which it differs from the fields' own defaults
    scales: ClassVar[Mapping[str, Mapping[str, Any]]]
    # scale name to the training settings in which it differs from the scale's own
    training: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network from (N, C, H, W) to logits (N, K), on the CPU."""
        raise NotImplementedError

    def cam_layer(self, network: nn.Module) -> str | None:
        """Dotted name of the module whose output class activation maps are made of."""
        raise NotImplementedError

    def normalise(self, channels: int) -> nn.Module:
        """A module from images (N, C, H, W) in [0, 1] to the network's input; its constants are buffers."""
        from torch import nn

        return nn.Identity()

    def load_weights(self, network: nn.Module) -> None:
        """Load the weights that a training starts from, where they are not those of :meth:`build`."""
