"""The layers of a network by name, and their outputs as channels of an image."""

from __future__ import annotations

from math import isqrt

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace


def find_layer(view: ModelView, name: str) -> nn.Module:
    """The module of the network with that dotted name."""
    modules: dict[str, nn.Module] = dict(view.network.named_modules())
    if name not in modules:
        raise unknown_name("layer", name, modules)
    return modules[name]


def check_layer(view: ModelView, image: Tensor, name: str) -> None:
    """Check that a layer gives channels of an image.

    Raises
    ------
    SalgenError
        If the layer is unknown, does not run, or gives anything but (N, K, h, w) or tokens of a
        square grid; also if it gives (N, h, w, K), where a layer norm over K before or after it
        tells so.
    """
    find_layer(view, name)
    layout = NetworkTrace.of(view, image)
    outputs = layout.outputs
    if name not in outputs:
        raise SalgenError(f"layer {name!r} does not run when the model does: choose another layer")
    shape = outputs[name]
    if isinstance(shape, str):
        raise SalgenError(f"layer {name!r} gives {shape}: choose a layer that gives one tensor")
    if len(shape) == 4 and name in layout.features_last:
        raise SalgenError(f"layer {name!r} gives {shape}, channels last: must be channels (N, K, h, w), or tokens")
    as_channels(torch.empty(shape, device="meta"), name)


def last_spatial_layer(view: ModelView, inputs: Tensor) -> str:
    """The module of the last map that every path from the image to the logits passes through.

    So ``layer4`` of a ResNet and ``features.29`` of VGG-16: never a branch, a map inside a residual
    block, or a pool.

    Raises
    ------
    SalgenError
        If no such map has more than one pixel, or the last one is tokens or has its channels last.
    """
    layout = NetworkTrace.of(view, inputs[:1])
    layer = layout.bottleneck
    if layer is None:
        raise SalgenError(
            "the model has no layer of more than one pixel through which every path from the image to the logits "
            "goes: name one with layer="
        )
    if layer in layout.features_last:
        raise SalgenError(
            f"the model's last map, of layer {layer!r}, is {layout.outputs[layer]}, channels last: name a layer that "
            "gives channels (N, K, h, w), or tokens of a square grid that reach the logits, with layer="
        )
    return layer


def last_map(view: ModelView, inputs: Tensor) -> str | None:
    """The last module whose channels have more than one pixel: the input of a global pool."""
    layout = NetworkTrace.of(view, inputs[:1])
    return next((name for name in reversed(layout.outputs) if layout.pixels(name) > 1), None)


def as_channels(output: Tensor, layer: str) -> Tensor:
    """A layer's output as (n, K, h, w).

    Tokens (n, T, K) become a square grid without the leading class token, if there is one. Four
    axes are taken as they are: a shape alone cannot tell (n, h, w, K) from (n, K, h, w), so that is
    refused by `check_layer`, which sees what comes before and after, where it can be told.

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
