"""A network that computes a logical function of the discs in slots."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING
from salgen.evaluation.models.designed.designed_network import DesignedNetwork, set_weights

if TYPE_CHECKING:
    from torch import nn
    from salgen.evaluation.models.classifier import Classifier
    from salgen.generators.designed.logic_slots import LogicSlots


@dataclass(frozen=True)
class SlotLogic(DesignedNetwork):
    """A convolution finds the disc of each slot, and two layers compute AND, OR, XOR, the number modulo M or pairs.

    b_k = relu(1 - sum over the slot's pixels and channels of |x - T|) is 1 for the template T. It is 0 as soon as the
    pixels differ from T by 1 in sum. T is black and white and x in [0, 1], so |x - T| is linear. A function of the sum
    s of all b_k is f(0) + sum over i of a_i relu(s - i). a_i is its change of slope at i. Pairs take relu(b_k + b_l -
    1).
    """

    name = "slot-logic"
    generator = "logic-slots"
    reference = "closed form"

    def design(self, generator: LogicSlots) -> Classifier:
        """The network for images of `logic-slots`."""
        from torch import nn
        from salgen.evaluation.models.classifier import Classifier

        layers = OrderedDict(
            slots=_finder(generator),
            slots_relu=nn.ReLU(),
            flatten=nn.Flatten(),
            **(_pairs(generator) if generator.function == "pairs" else _symmetric(generator)),
        )
        network = nn.Sequential(layers)
        network.gives_logits = True  # type: ignore[assignment]  # though they are 0 and 1
        return Classifier(network, cam_layer="slots_relu")


def _finder(generator: LogicSlots) -> nn.Module:
    """Images to 1 at slots with a disc, and 0 or less at the others before the ReLU."""
    import torch
    from torch import nn

    disc, support = (torch.from_numpy(part).float() for part in (generator.disc(), generator.support()))
    kernel = (support * (2.0 * disc - 1.0)).expand(1, 3, -1, -1)
    size = generator.slot_size
    return set_weights(nn.Conv2d(3, 1, size, stride=size), kernel, [1.0 - 3.0 * float(disc.sum())])


def _symmetric(generator: LogicSlots) -> dict[str, nn.Module]:
    import numpy as np
    import torch
    from torch import nn

    count, classes = generator.slots, len(generator.tasks["label"])
    values = np.array([generator.logits(range(m)) for m in range(count + 1)])  # (K + 1, classes)
    slopes = np.diff(values, axis=0, prepend=values[:1])[1:]
    bends = np.diff(slopes, axis=0, prepend=np.zeros((1, classes)))  # the slope before 0 is 0
    return {
        "steps": set_weights(nn.Linear(count, count), torch.ones(count, count), -torch.arange(float(count))),
        "steps_relu": nn.ReLU(),
        "logits": set_weights(nn.Linear(count, classes), bends.T, values[0]),
    }


def _pairs(generator: LogicSlots) -> dict[str, nn.Module]:
    import torch
    from torch import nn

    count, (single, weights) = generator.slots, generator.weights
    pairs = list(combinations(range(count), 2))
    read = torch.cat([torch.eye(count), torch.stack([torch.eye(count)[[k, j]].sum(dim=0) for k, j in pairs])])
    total = torch.tensor([*single, *(weights[pair] for pair in pairs)], dtype=torch.float32)
    offsets = torch.cat([torch.zeros(count), -torch.ones(len(pairs))])
    return {
        "terms": set_weights(nn.Linear(count, len(total)), read, offsets),
        "terms_relu": nn.ReLU(),
        "logits": set_weights(nn.Linear(len(total), 2), torch.stack([-total, total]), [0.5, 0.0]),
    }
