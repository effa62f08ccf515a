"""Bases of models by the weights that training starts from: drawn, of a file, or torchvision's for ImageNet."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from salgen.errors import SalgenError, reason
from salgen.evaluation.models import Model, weight_files
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import Tensor, nn

SCRATCH, IMAGENET = "scratch", "imagenet"
A_FILE = f"a file ({', '.join(weight_files.SUFFIXES)})"
TO_START = f"give weights of this architecture and set its parameters to what they were made with, or weights={SCRATCH}"


@dataclass(frozen=True)
class Seams:
    """The names of a network's first and last weights, which depend on images and classes."""

    input: str  # name of the convolution that sees the image
    # name of a tensor, one number per output of that convolution, that takes up a constant: its bias, or the running
    # mean of the batch norm after it
    offset: str
    logits: str  # name of the linear layer with an output for each class


@dataclass(frozen=True)
class FromFile(Model):
    """A model that can start from a file of weights."""

    seams: ClassVar[Seams]  # where the network meets images and classes, as tensors are named within `part`
    part = ""  # the module of the network that a file of weights is for; the whole by default
    starts: ClassVar[tuple[str, ...]] = (SCRATCH,)  # the values of `weights` besides a file

    weights: str = param(SCRATCH, f"what training starts from: {SCRATCH}, or {A_FILE}")

    def __post_init__(self) -> None:
        if self.weights not in self.starts and not self.weights.endswith(weight_files.SUFFIXES):
            raise SalgenError(
                f"{self.name}: weights = {self.weights!r}: must be {', '.join(self.starts)}, or a file whose name ends "
                f"in {', '.join(weight_files.SUFFIXES)}"
            )

    def load_weights(self, network: nn.Module) -> None:
        """Load the weights that training starts from; three channels are summed where the network takes one."""
        if self.weights == SCRATCH:
            return
        part = network.get_submodule(self.part)
        tensors = weight_files.without_prefixes(self._tensors(), part.state_dict())
        kernel = f"{self.seams.input}.weight"
        outputs, inputs, *window = part.get_parameter(kernel).shape
        if inputs == 1 and kernel in tensors and tensors[kernel].shape == (outputs, 3, *window):
            tensors = self._to_grey(tensors)
        weight_files.load(part, tensors, f"{self.name}: weights = {self.weights}", TO_START, self.seams.logits)

    def _tensors(self) -> dict[str, Tensor]:
        return weight_files.read_tensors(Path(self.weights).expanduser())

    def _to_grey(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Weights for 3 channels as for 1: a grey v is slope * v + offset, whose offset goes into `seams.offset`."""
        import torch

        black, white = torch.zeros(1, 3, 1, 1), torch.ones(1, 3, 1, 1)
        dark, bright = (self.normalise(3)(image).flatten().double() for image in (black, white))
        grey_dark, grey_bright = (self.normalise(1)(image[:, :1]).flatten().double() for image in (black, white))
        slope = (bright - dark) / (grey_bright - grey_dark)
        offset = dark - slope * grey_dark
        name, constant = f"{self.seams.input}.weight", tensors.get(self.seams.offset)
        kernel = tensors[name].double()
        grey = {**tensors, name: (kernel * slope.view(3, 1, 1)).sum(dim=1, keepdim=True).to(tensors[name])}
        added = (kernel * offset.view(3, 1, 1)).sum(dim=(1, 2, 3))
        if constant is not None and constant.shape == added.shape:
            is_subtracted = self.seams.offset.endswith("running_mean")
            grey[self.seams.offset] = (constant.double() + (-added if is_subtracted else added)).to(constant)
        return grey


@dataclass(frozen=True)
class FromTorchvision(FromFile):
    """A model of torchvision's, which can start from its ImageNet weights too."""

    architecture: ClassVar[str]  # torchvision's name for it
    starts = (SCRATCH, IMAGENET)

    weights: str = param(
        SCRATCH, f"what training starts from: {SCRATCH}, {IMAGENET} (torchvision's weights, downloaded), or {A_FILE}"
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
        """ImageNet's mean and standard deviation, for 3 channels or 1."""
        from salgen.evaluation.models.normalisation import imagenet_normalisation

        return imagenet_normalisation(channels)

    def _tensors(self) -> dict[str, Tensor]:
        if self.weights != IMAGENET:
            return super()._tensors()
        import torch
        from torchvision.models import get_model_weights

        weights = get_model_weights(self.architecture).IMAGENET1K_V1
        cached = Path(torch.hub.get_dir()) / "checkpoints" / Path(weights.url).name
        try:
            return dict(
                weights.get_state_dict(
                    progress=sys.stderr.isatty(), map_location="cpu", check_hash=True, weights_only=True
                )
            )
        except Exception as error:  # a damaged file fails in any way; its content is never executed
            raise SalgenError(
                f"weights = {IMAGENET}: {weights.url} cannot be fetched and read "
                f"({reason(getattr(error, 'reason', error))}): download it to {cached} yourself, or give "
                f"weights=<its path> or weights={SCRATCH}"
            ) from None


def check_image_size(name: str, smallest: int, image_size: tuple[int, int]) -> None:
    """Raise a SalgenError if nothing would be left of an image at the network's end."""
    if min(image_size) < smallest:
        size = "x".join(map(str, image_size))
        raise SalgenError(f"image size {size} is too small for {name}: each side must be at least {smallest}")


def he_uniform(module: nn.Module) -> None:
    """He-uniform weights and zero biases, where no library initialises them; batch norm starts as the identity."""
    from torch import nn

    if isinstance(module, nn.Conv2d | nn.Linear):
        nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
        if module.bias is not None:
            nn.init.zeros_(module.bias)
