"""A network in which one patch cancels what its neighbour adds."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from salgen.evaluation.models.designed.designed_network import DesignedNetwork, set_weights

if TYPE_CHECKING:
    from salgen.evaluation.models.classifier import Classifier
    from salgen.generators.designed.cancelling_patches import CancellingPatches

STRENGTH = 100.0  # a canceller's weight


@dataclass(frozen=True)
class Cancellation(DesignedNetwork):
    """A convolution over pairs of patches whose right one, if green, cancels the left one.

    The logit of `red` is the sum over pairs of relu(x - 100 c) - relu(-x - 100 c), that of `blue` its negative. x is
    the left patch's mean excess of red over blue, in [-1, 1], and c the right one's mean green. For c = 0 or 1 a term
    is x (1 - c).
    """

    name = "cancellation"
    generator = "cancelling-patches"
    reference = "closed form"

    def design(self, generator: CancellingPatches) -> Classifier:
        """The network for images of `cancelling-patches`."""
        import torch
        from torch import nn
        from salgen.evaluation.models.classifier import Classifier
        from salgen.generators.designed.cancelling_patches import SIGNS

        side, (height, width) = generator.patch, generator.image_size
        pairs = (height // side) * (width // (2 * side))
        kernel = torch.zeros(2, 3, side, 2 * side)
        kernel[0, 0, :, :side], kernel[0, 2, :, :side] = 1.0, -1.0
        kernel[1] = -kernel[0]
        kernel[:, 1, :, side:] = -STRENGTH
        sums = torch.tensor([1.0, -1.0]).repeat_interleave(pairs)
        window = (side, 2 * side)
        layers = OrderedDict(
            pairs=set_weights(nn.Conv2d(3, 2, window, stride=window), kernel / side**2),
            pairs_relu=nn.ReLU(),
            flatten=nn.Flatten(),
            logits=set_weights(nn.Linear(2 * pairs, 2), torch.stack([sign * sums for sign in SIGNS])),
        )
        return Classifier(nn.Sequential(layers), cam_layer="pairs_relu")
