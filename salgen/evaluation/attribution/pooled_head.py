"""A check that a network ends in global average pooling of a layer and one linear layer."""

from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.layers import find_layer, last_map, layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace, hooked
from salgen.seeding import Stream

_SIZES = (0.1, 1.0, 10.0, 100.0)  # sizes of test values: a head may be linear only near zero, or only far from it
_PER_SIZE = 2
_ROUNDING = 16  # steps of the logits' own precision


def before_global_pool(view: ModelView, image: Tensor, layer: str) -> str:
    """The layer, or a smaller pool after it if that is the input of global pooling."""
    layout = NetworkTrace.of(view, image)
    pooled = last_map(view, image)
    return layer if pooled is None or layout.pixels(layer) <= layout.pixels(pooled) else pooled


def check_pooled_head(view: ModelView, image: Tensor, layer: str) -> None:
    """Raise a SalgenError unless the logits are W m + b, with m the layer's spatial means, for any image.

    The layer's output is replaced by made-up values of several sizes, so that no property of this
    image, such as a rectifier that happens to be on everywhere, can stand in for the structure. With
    f(P) the logits less those of zeros, f(-2 p - q / 2) must be -2 f(P) - f(Q) / 2 for any outputs P
    and Q of a size, where p and q have their means at every pixel.

    Parameters
    ----------
    view, image
        The network and one normalised image (1, C, h, w).
    layer
        A layer that gives channels, all of whose numbers are pixels.
    """
    grid, shape = layer_grid(view, image, layer), NetworkTrace.of(view, image).outputs[layer]
    outputs = _random_outputs(shape, grid.channel_axis, image, layer)
    if grid.whole and _is_linear_in_means(view, image, layer, grid.channel_axis, outputs):
        return
    raise SalgenError(
        f"cam is not defined for this network: after layer {layer!r} must come global average pooling and one linear "
        "layer, and nothing else; choose that layer with layer=, or use grad-cam, which is defined for any"
    )


def _is_linear_in_means(view: ModelView, image: Tensor, layer: str, axis: int, outputs: Tensor) -> bool:
    pixels = [other for other in range(1, outputs.ndim) if other != axis]
    means, count = outputs.mean(dim=pixels, keepdim=True), len(outputs)
    mixed = (-2 * means - _partners(means) / 2).expand_as(outputs)
    images = [torch.zeros_like(image), *[image] * count, *[-image] * count]
    logits = _logits_with(view, layer, torch.cat([torch.zeros_like(outputs[:1]), outputs, mixed]), images)
    change = logits[1:] - logits[:1]
    error = change[count:] - (-2 * change[:count] - _partners(change[:count]) / 2)
    step = torch.finfo(image.dtype).eps
    tolerance = step**0.5 * _largest(change[:count]) + _ROUNDING * step * (_largest(logits[1:]) + logits[0].abs().max())
    return bool((_largest(error) <= tolerance).all())  # a head of another kind is off by its own size


def _partners(values: Tensor) -> Tensor:
    """For each output, another one of its size."""
    pairs = values.view(len(_SIZES), _PER_SIZE, *values.shape[1:])
    return pairs.roll(1, dims=1).view_as(values)


def _largest(values: Tensor) -> Tensor:
    """The largest absolute value of each size, (sizes,); of several blocks of outputs, in all of them."""
    return values.abs().amax(dim=1).view(-1, len(_SIZES), _PER_SIZE).amax(dim=(0, 2))


def _random_outputs(shape: Any, axis: int, image: Tensor, layer: str) -> Tensor:
    """Different outputs of the layer, (m, ...), small to large; their means vary as much as their pixels."""
    stream, count = Stream(0, "pooled head", layer), len(_SIZES) * _PER_SIZE
    means, pixels = stream.normal(count * shape[axis]), stream.normal(count * prod(shape))
    mean_shape = [shape[axis] if other == axis else 1 for other in range(1, len(shape))]
    values = pixels.reshape(count, *shape[1:]) + means.reshape(count, *mean_shape)
    sizes = torch.tensor(_SIZES).double().repeat_interleave(_PER_SIZE)
    return (torch.from_numpy(values) * sizes.view(-1, *[1] * (len(shape) - 1))).to(image)


def _logits_with(view: ModelView, layer: str, outputs: Tensor, images: list[Tensor]) -> Tensor:
    """The logits of images when the layer's outputs are replaced by these."""

    def replace(_module: nn.Module, _inputs: Any, _output: Any) -> Tensor:
        return outputs.clone()

    with torch.no_grad(), hooked([(find_layer(view, layer), replace)]):
        return view.logits(torch.cat(images)).double()
