"""Normal noise on inputs, each sample's from its own stream."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from salgen.seeding import Stream


def normal(inputs: Tensor, streams: Sequence[Stream]) -> Tensor:
    """Standard normal numbers, shaped as the inputs (n, C, h, w): the next ones of each of n streams."""
    drawn = np.stack([stream.normal(inputs[0].numel()) for stream in streams])
    return torch.from_numpy(drawn).to(inputs).view_as(inputs)


def range_of(inputs: Tensor) -> Tensor:
    """Each image's largest value minus its smallest, (n, 1, 1, 1)."""
    return inputs.amax(dim=(1, 2, 3), keepdim=True) - inputs.amin(dim=(1, 2, 3), keepdim=True)
