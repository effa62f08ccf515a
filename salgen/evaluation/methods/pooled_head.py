"""Whether a network ends in global average pooling of a layer and one linear layer."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.layers import find_layer, last_map
from salgen.evaluation.layout import Layout, hooked
from salgen.evaluation.model_view import ModelView
from salgen.seeding import Stream

_SIZE = 100.0  # of made-up values, which switch rectifiers on and off whatever their bias


def before_global_pool(view: ModelView, image: Tensor, layer: str) -> str:
    """The layer, or what a smaller pool after it gives, if global pooling takes that."""
    layout = Layout.of(view, image)
    pooled = last_map(view, image)
    return layer if pooled is None or layout.pixels(layer) <= layout.pixels(pooled) else pooled


def check_pooled_head(view: ModelView, image: Tensor, layer: str) -> None:
    """Raise a SalgenError unless the logits are W m + b, with m the layer's spatial means, for any image.

    The layer's output is replaced by made-up values, so that no property of this image, such as a
    rectifier that happens to be on everywhere, can stand in for the structure.

    Parameters
    ----------
    view, image
        The network and one normalised image (1, C, h, w).
    layer
        A layer that gives (N, K, h, w).
    """
    shape = Layout.of(view, image).outputs[layer]
    if len(shape) == 4:
        some, other = _made_up(shape, image, layer)
        flat = some.mean(dim=(2, 3), keepdim=True).expand_as(some)
        rest = torch.zeros_like(image)
        logits = _logits_with(
            view, layer, torch.cat([some, flat, other, (some + other) / 2]), [image, image, rest, -image]
        )
        expected = torch.stack([logits[1], (logits[0] + logits[2]) / 2])
        scale = float((logits - logits.mean(dim=0)).abs().max())
        tolerance = torch.finfo(image.dtype).eps ** 0.5  # a head of another kind is off by its own size
        if float((logits[[0, 3]] - expected).abs().max()) <= tolerance * scale:
            return
    raise SalgenError(
        f"cam is not defined for this network: after layer {layer!r} must come global average pooling and one linear "
        "layer, and nothing else; choose that layer with layer=, or use grad-cam, which is defined for any"
    )


def _made_up(shape: Any, image: Tensor, layer: str) -> tuple[Tensor, Tensor]:
    """Two different outputs of the layer, each (1, K, h, w); their means vary as much as their pixels."""
    stream = Stream(0, "pooled head", layer)
    means, pixels = stream.normal(2 * shape[1]), stream.normal(2 * prod(shape))
    values = pixels.reshape(2, *shape) + means.reshape(2, 1, shape[1], 1, 1)
    some, other = torch.from_numpy(_SIZE * values).to(image)
    return some, other


def _logits_with(view: ModelView, layer: str, outputs: Tensor, images: list[Tensor]) -> Tensor:
    """The logits of images whose layer gives these outputs instead, whatever it is called for."""

    def replace(_module: nn.Module, _inputs: Any, _output: Any) -> Tensor:
        return outputs.clone()

    with torch.no_grad(), hooked([(find_layer(view, layer), replace)]):
        return view.logits(torch.cat(images)).double()
