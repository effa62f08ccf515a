"""The modules of a network by name: to find one, to hook it, to see its output as channels of an image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import isqrt
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.model_view import ModelView

SPATIAL = (nn.ReLU, nn.Conv2d)


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

    with hooked((module, note) for module in names), torch.no_grad():
        view.logits(inputs[:1])
    if not ran:
        raise SalgenError("the model has no convolution or ReLU with a spatial output: name one with layer=")
    return names[ran[-1]]


def as_channels(output: Tensor, layer: str) -> Tensor:
    """A layer's output as (n, K, h, w).

    Tokens (n, T, K) become a square grid without the leading class token, if there is one.

    Raises
    ------
    SalgenError
        If it has neither shape.
    """
    if output.ndim == 4:
        return output
    if output.ndim == 3:
        tokens = output.shape[1]
        side = isqrt(tokens)
        if side * side in (tokens, tokens - 1):
            grid = output[:, tokens - side * side :].transpose(1, 2)
            return grid.reshape(*grid.shape[:2], side, side)
    raise SalgenError(
        f"layer {layer!r} gives {tuple(output.shape)}: must be channels (N, K, h, w), or tokens of a square grid"
    )


@contextmanager
def hooked(hooks: Iterable[tuple[nn.Module, Callable[..., Any]]]) -> Iterator[None]:
    """Forward hooks for as long as the block runs."""
    handles = [module.register_forward_hook(hook) for module, hook in hooks]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
