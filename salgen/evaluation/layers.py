"""Activations of a layer and their gradients, with the graph cut at the layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.model_view import ModelView
from salgen.evaluation.request import Request

SPATIAL = (nn.ReLU, nn.Conv2d)


def activations_and_gradients(request: Request) -> tuple[Tensor, Tensor]:
    """The layer's output (n, K, h, w) and the score's gradient there.

    The backward pass ends at the layer. A module that is called more than once stands for its
    last call.

    Raises
    ------
    SalgenError
        If the layer is unknown, does not run, or has no spatial output.
    """
    name = request.layer or request.model.cam_layer or last_spatial_layer(request.model, request.inputs)
    leaves: list[Tensor] = []

    def cut(_module: nn.Module, _inputs: Any, output: Any) -> Tensor:
        leaves.append(_spatial(output, name).detach().requires_grad_())
        return leaves[-1].clone()  # what follows may work in place

    with _hooked([find_layer(request.model, name)], cut):
        score = request.scores(request.inputs).sum()
    if not leaves:
        raise SalgenError(f"layer {name!r} does not run when the model does: choose another layer")
    gradient = torch.autograd.grad(score, leaves[-1], allow_unused=True)[0] if score.requires_grad else None
    return leaves[-1].detach(), torch.zeros_like(leaves[-1]) if gradient is None else gradient


def find_layer(view: ModelView, name: str) -> nn.Module:
    """The module of the network with that dotted name."""
    modules: dict[str, nn.Module] = dict(view.network.named_modules())
    if name not in modules:
        raise unknown_name("layer", name, modules)
    return modules[name]


def last_spatial_layer(view: ModelView, inputs: Tensor) -> str:
    """The ReLU or convolution that ran last with more than one pixel of output.

    Raises
    ------
    SalgenError
        If there is none.
    """
    modules: dict[str, nn.Module] = dict(view.network.named_modules())
    names: dict[nn.Module, str] = {m: name for name, m in modules.items() if isinstance(m, SPATIAL)}
    ran: list[nn.Module] = []

    def note(module: nn.Module, _inputs: Any, output: Tensor) -> None:
        if output.ndim == 4 and output.shape[2] * output.shape[3] > 1:
            ran.append(module)

    with _hooked(list(names), note), torch.no_grad():
        view.logits(inputs[:1])
    if not ran:
        raise SalgenError("the model has no convolution or ReLU with a spatial output: name one with layer=")
    return names[ran[-1]]


def _spatial(output: Any, name: str) -> Tensor:
    if not isinstance(output, Tensor) or output.ndim != 4:
        shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
        raise SalgenError(f"layer {name!r} gives {shape}: a CAM needs an output (N, K, h, w)")
    return output


@contextmanager
def _hooked(modules: list[nn.Module], hook: Callable[..., Any]) -> Iterator[None]:
    handles = [module.register_forward_hook(hook) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
