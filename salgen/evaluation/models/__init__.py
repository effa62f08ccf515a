"""Networks that can be trained: one module for each, and what a model plug-in provides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from torch import nn


class Model(Protocol):
    """The members of a registered model; its dataclass fields are its parameters.

    :class:`~salgen.evaluation.models.weight_sources.FromScratch` has the last two methods for a network
    that takes images as they are and starts from the weights that it was built with.
    """

    name: ClassVar[str]  # registered name
    reference: ClassVar[str]  # where the network was described
    quick: ClassVar[Mapping[str, Any]]  # parameters of a small version, for the conformance checks
    # scale name to the parameters in which it differs from the fields' own defaults
    scales: ClassVar[Mapping[str, Mapping[str, Any]]]
    # scale name to the training settings in which it differs from the scale's own
    training: ClassVar[Mapping[str, Mapping[str, Any]]]

    def build(self, channels: int, classes: int, image_size: tuple[int, int]) -> nn.Module:
        """A freshly initialised network from (N, C, H, W) to logits (N, K), on the CPU."""
        ...

    def cam_layer(self, network: nn.Module) -> str:
        """Dotted name of the module whose output class activation maps are made of."""
        ...

    def normalise(self, channels: int) -> nn.Module:
        """A module from images (N, C, H, W) in [0, 1] to the network's input; its constants are buffers."""
        ...

    def load_weights(self, network: nn.Module) -> None:
        """Load the weights that a training starts from, where they are not those of :meth:`build`."""
        ...
