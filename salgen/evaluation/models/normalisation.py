"""From images in [0, 1] to what a network was trained to take."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError

# Of the colours red, green and blue, over ImageNet's training images.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


class Normalisation(nn.Module):
    """Each channel less its mean, divided by its standard deviation.

    Both are buffers, so they move with the model and are stored with its weights.

    Parameters
    ----------
    mean, std
        One number for each channel.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(-1, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(-1, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        """(N, C, H, W) in [0, 1] to the same shape."""
        return (images - self.mean) / self.std


def imagenet_normalisation(channels: int) -> Normalisation:
    """The normalisation of torchvision's networks; a single channel takes the means over the colours.

    Raises
    ------
    SalgenError
        If the number of channels is neither 3 nor 1.
    """
    if channels == 3:
        return Normalisation(IMAGENET_MEAN, IMAGENET_STD)
    if channels == 1:
        return Normalisation([sum(IMAGENET_MEAN) / 3], [sum(IMAGENET_STD) / 3])
    raise SalgenError(f"torchvision's networks take images of 1 or 3 channels, not {channels}: choose another model")
