"""The same architecture with weights that have learnt nothing: the floor of every comparison."""

from __future__ import annotations

import copy
from dataclasses import replace

import torch
from torch import nn

from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.random_state import random_state


def untrained(view: ModelView, seed: int) -> ModelView:
    """A view of the same network with fresh weights, which depend on `seed` alone.

    Modules start anew by their own ``reset_parameters``; parameters of modules that have none are
    put in random order, so that their values keep their distribution and lose what they mean.
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
    """Draw a module's own parameters anew, from torch's global generator."""
    reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
    if callable(reset):
        reset()
        return
    for parameter in module.parameters(recurse=False):
        order = torch.randperm(parameter.numel())
        parameter.data = parameter.detach().flatten()[order].view_as(parameter)
