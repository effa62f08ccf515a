"""CAM, and the check that a network ends in global average pooling of a layer and one linear layer."""

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar
import torch
from torch import Tensor, nn
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, activations_at, gradients_at, weighted
from salgen.evaluation.models.inspection.layers import find_layer, last_map, layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace, hooked
from salgen.parameters import param
from salgen.seeding import Stream

NAMES = ("cam",)

_SIZES = (0.1, 1.0, 10.0, 100.0)  # sizes of test values: a head may be linear only near zero, or only far from it
_PER_SIZE = 2
_ROUNDING = 16  # steps of the logits' own precision


@dataclass(frozen=True)
class Cam(ClassActivation):
    """A layer's channels, weighted as the linear layer after global average pooling weights them.

    The map's spatial mean is the logit less its bias (of a margin, the difference of two such).
    """

    name: ClassVar[str] = "cam"
    reference: ClassVar[str] = (
        "Zhou et al. 2016, Learning deep features for discriminative localization, doi:10.1109/CVPR.2016.319"
    )
    signed: ClassVar[bool] = True
    defined_for: ClassVar[str] = "networks whose layer goes through global average pooling into one linear layer"

    layer: str | None = param(None, "dotted module names joined by +; default: the model's choice, or a pool after it")

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks whose logits are anything but a linear layer of the layer's spatial means."""
        super().check(model, image)
        for layer in self.layers_of(model, image):
            check_pooled_head(model, image, layer)

    def layers_of(self, model: ModelView, image: Tensor) -> tuple[str, ...]:
        """The named layers; else the model's, or a smaller pool after it that is the input of global pooling."""
        layers = super().layers_of(model, image)
        if self.layer:
            return layers
        trace, pooled = NetworkTrace.of(model, image), last_map(model, image)
        return layers if pooled is None or trace.pixels(layers[0]) <= trace.pixels(pooled) else (pooled,)

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Signed (n, 1, h, w)."""
        weights = gradients_at(layer, context).sum(dim=(2, 3), keepdim=True)
        return weighted(weights, activations_at(layer, context))


def check_pooled_head(view: ModelView, image: Tensor, layer: str) -> None:
    """Raise a SalgenError unless the logits are W m + b, with m the layer's spatial means, for any image.

    Random values of several sizes replace the layer's output, so no property of this image stands in for the
    structure. Let f(P) be the logits less those of zeros. For outputs P and Q of a size, p and q have their means at
    every pixel. Then f(-2 p - q / 2) must be -2 f(P) - f(Q) / 2.
    """
    grid = layer_grid(view, image, layer)
    if not grid.whole or not _is_linear_in_means(view, image, layer, grid.channel_axis):
        raise SalgenError(
            f"cam is not defined for this network: after layer {layer!r} must come global average pooling and one "
            "linear layer, and nothing else; choose that layer with layer=, or use grad-cam, which is defined for any"
        )


def _is_linear_in_means(view: ModelView, image: Tensor, layer: str, axis: int) -> bool:
    outputs = _random_outputs(NetworkTrace.of(view, image).outputs[layer], axis, image, layer)
    pixels = [other for other in range(1, outputs.ndim) if other != axis]
    means, count = outputs.mean(dim=pixels, keepdim=True), len(outputs)
    mixed = (-2 * means - _partners(means) / 2).expand_as(outputs)
    replacement = torch.cat([torch.zeros_like(outputs[:1]), outputs, mixed])
    images = torch.cat([torch.zeros_like(image), *[image] * count, *[-image] * count])

    def replace(_module: nn.Module, _inputs: Any, _output: Any) -> Tensor:
        return replacement.clone()

    with torch.no_grad(), hooked([(find_layer(view, layer), replace)]):
        logits = view.logits(images).double()
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
