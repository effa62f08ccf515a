"""The same architecture with weights that have learnt nothing: the floor of every comparison."""

import copy
from contextlib import suppress
from dataclasses import replace

import torch
from torch import nn

from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.random_state import random_state


def untrained(view: ModelView, seed: int) -> ModelView:
    """A view of the same network with fresh weights, which depend on `seed` alone.

    Modules start anew by their own ``reset_parameters``; what these leave as it is, is put in random order, so that
    values keep their distribution and lose what they mean.
    The weights are drawn on the CPU, hence the same on every device, and torch's global generator
    is left as it was.
    """
    device = next((p.device for p in view.network.parameters()), torch.device("cpu"))
    network = copy.deepcopy(view.network).cpu()
    with random_state(seed, "untrained"):
        for module in network.modules():
            restart(module)
    return replace(view, network=network.requires_grad_(False).eval().to(device))


def restart(module: nn.Module) -> None:
    """Draw a module's own parameters and learnt buffers anew, from torch's global generator.

    What its own ``reset_parameters`` leaves as it is, is put in random order; a single parameter is drawn from a normal
    distribution of its size. Buffers count as learnt if they are saved and not integers.
    """
    saved = {name for name, _ in module.named_buffers(recurse=False)} - module._non_persistent_buffers_set
    own = [*module.parameters(recurse=False), *(module.get_buffer(name) for name in sorted(saved))]
    before = [tensor.detach().clone() for tensor in own]
    reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
    if callable(reset):
        with suppress(Exception):  # one of the user's may need arguments
            reset()
    for tensor, old in zip(own, before, strict=True):
        if tensor.is_floating_point() and torch.equal(tensor, old):
            values = old.flatten()[torch.randperm(old.numel())]
            alone = old.numel() == 1 and isinstance(tensor, nn.Parameter)
            tensor.data = (values * torch.randn(1) if alone else values).view_as(old).to(old.dtype)
