"""The channels of a layer one by one, as the methods that mask or remove them need."""

import torch
from torch import Tensor


def every_channel(activations: Tensor) -> tuple[Tensor, Tensor]:
    """The image and the channel of each of n * K channels, image by image: int64 (n * K,) each."""
    count, channels = activations.shape[:2]
    numbers = torch.arange(count * channels, device=activations.device)
    return numbers // channels, numbers % channels
