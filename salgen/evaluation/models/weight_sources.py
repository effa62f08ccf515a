"""Defaults of what models declare: the normalisation of images and the weights that training starts from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from salgen.errors import SalgenError
from salgen.evaluation.models.start_weights import (
    IMAGENET,
    SCRATCH,
    SUFFIXES,
    Seams,
    colour_map,
    imagenet_tensors,
    load,
    read_tensors,
    to_grey,
    without_prefixes,
)
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class FromScratch:
    """A model that takes images as they are and starts from the weights that it was built with."""

    training: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def normalise(self, channels: int) -> nn.Module:
        """The identity, which adds nothing to a checkpoint."""
        from torch import nn

        return nn.Identity()

    def load_weights(self, network: nn.Module) -> None:
        """Leave the weights as they are."""


@dataclass(frozen=True)
class FromFile(FromScratch):
    """A model that can start from a file of weights.

    Attributes
    ----------
    seams
        Where the network meets images and classes, as tensors are named within `part`.
    part
        The module of the network that a file of weights is for; the whole by default.
    starts
        The values of `weights` besides a file.
    """

    name: ClassVar[str]
    seams: ClassVar[Seams]
    part: ClassVar[str] = ""
    starts: ClassVar[tuple[str, ...]] = (SCRATCH,)

    weights: str = param(SCRATCH, f"what training starts from: {SCRATCH}, or a file ({', '.join(SUFFIXES)})")

    def __post_init__(self) -> None:
        if self.weights not in self.starts and not self.weights.endswith(SUFFIXES):
            raise SalgenError(
                f"{self.name}: weights = {self.weights!r}: must be {', '.join(self.starts)}, or a file whose name ends "
                f"in {', '.join(SUFFIXES)}"
            )

    def load_weights(self, network: nn.Module) -> None:
        """Load the weights that training starts from into a network of :meth:`build`.

        Weights for three channels are summed over the colours where the network takes one. The last
        layer stays as it is where the number of classes differs.

        Raises
        ------
        SalgenError
            If the weights cannot be read or fetched, or do not fit the network.
        """
        if self.weights != SCRATCH:
            part = network.get_submodule(self.part)
            self._fit(part, without_prefixes(self._tensors(), part.state_dict()))

    def _tensors(self) -> dict[str, Tensor]:
        return read_tensors(Path(self.weights).expanduser())

    def _fit(self, network: nn.Module, tensors: dict[str, Tensor]) -> None:
        kernel = f"{self.seams.input}.weight"
        outputs, inputs, *window = network.get_parameter(kernel).shape
        if inputs == 1 and kernel in tensors and tensors[kernel].shape == (outputs, 3, *window):
            tensors = to_grey(tensors, self.seams, *colour_map(self.normalise(3), self.normalise(1)))
        load(network, tensors, self.seams, f"{self.name}: weights = {self.weights}")


@dataclass(frozen=True)
class FromTorchvision(FromFile):
    """A model of torchvision's, which can start from its ImageNet weights too.

    Attributes
    ----------
    architecture
        Torchvision's name for it.
    """

    architecture: ClassVar[str]
    starts: ClassVar[tuple[str, ...]] = (SCRATCH, IMAGENET)

    weights: str = param(
        SCRATCH,
        f"what training starts from: {SCRATCH}, {IMAGENET} (torchvision's weights, downloaded), or a file "
        f"({', '.join(SUFFIXES)})",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        changed = [f for f in dataclasses.fields(self) if f.name != "weights" and getattr(self, f.name) != f.default]
        if self.weights == IMAGENET and changed:
            back = ", ".join(f"{f.name}={f.default}" for f in changed)
            raise SalgenError(
                f"{self.name}: weights = {IMAGENET} are those of the architecture itself: set {back} as well, or "
                f"weights={SCRATCH}"
            )

    def normalise(self, channels: int) -> nn.Module:
        """ImageNet's mean and standard deviation.

        Raises
        ------
        SalgenError
            If the number of channels is neither 3 nor 1.
        """
        from salgen.evaluation.models.normalisation import imagenet_normalisation

        return imagenet_normalisation(channels)

    def _tensors(self) -> dict[str, Tensor]:
        return imagenet_tensors(self.architecture) if self.weights == IMAGENET else super()._tensors()
