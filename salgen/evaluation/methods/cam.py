"""CAM, and the check that a network ends in global average pooling of a layer and one linear layer."""

from dataclasses import dataclass
from math import prod
from typing import Any
import torch
from torch import Tensor, nn
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, weighted
from salgen.evaluation.models.inspection.layers import find_layer, last_map, layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace, hooked
from salgen.parameters import param
from salgen.seeding import Stream

_SIZES = (0.1, 1.0, 10.0, 100.0)  # sizes of test values: a head may be linear only near zero, or only far from it
_ROUNDING = 16  # steps of the logits' own precision


@dataclass(frozen=True)
class Cam(ClassActivation):
    """A layer's channels, weighted as the linear layer after global average pooling weights them.

    The map's spatial mean is the logit less its bias (of a margin, the difference of two such).
    """

    name = "cam"
    reference = "Zhou et al. 2016, Learning deep features for discriminative localization, doi:10.1109/CVPR.2016.319"
    signed = True
    defined_for = "networks whose layer goes through global average pooling into one linear layer"

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
        weights = context.gradients(layer).sum(dim=(2, 3), keepdim=True)
        return weighted(weights, context.activations(layer))


def check_pooled_head(view: ModelView, image: Tensor, layer: str) -> None:
    """Raise a SalgenError unless the logits are W m + b, with m the layer's spatial means, for any image.

    Random values of several sizes replace the layer's output, so no property of this image stands in for the
    structure. Let f(P) be the logits less those of zeros. For outputs P and Q of a size, p and q have their means at
    every pixel. Then f(-2 p - q / 2) must be -2 f(P) - f(Q) / 2.
    """
    grid = layer_grid(view, image, layer)
    if not grid.whole or not all(_is_linear_in_means(view, image, layer, grid.channel_axis, size) for size in _SIZES):
        raise SalgenError(
            f"cam is not defined for this network: after layer {layer!r} must come global average pooling and one "
            "linear layer, and nothing else; choose that layer with layer=, or use grad-cam, which is defined for any"
        )


def _is_linear_in_means(view: ModelView, image: Tensor, layer: str, axis: int, size: float) -> bool:
    """Whether it holds for two random outputs of a size, whose means vary as much as their pixels."""
    outputs_of_one: Any = NetworkTrace.of(view, image).outputs[layer]
    shape = outputs_of_one[1:]
    stream = Stream(0, "pooled head", layer, str(size))
    pixels = [other for other in range(1, 1 + len(shape)) if other != axis]
    offsets = stream.normal(2 * shape[axis - 1]).reshape(2, *(1 if k in pixels else n for k, n in enumerate(shape, 1)))
    outputs = torch.from_numpy(size * (stream.normal(2 * prod(shape)).reshape(2, *shape) + offsets)).to(image)
    first, second = outputs.mean(dim=pixels, keepdim=True)
    mixed = (-2 * first - second / 2).expand_as(outputs[0])
    replacement = torch.stack([torch.zeros_like(mixed), *outputs, mixed])

    def replace(_module: nn.Module, _inputs: Any, _output: Any) -> Tensor:
        return replacement.clone()

    with torch.no_grad(), hooked([(find_layer(view, layer), replace)]):
        logits = view.logits(torch.cat([0 * image, image, image, -image])).double()
    change, step = logits[1:] - logits[0], torch.finfo(image.dtype).eps
    error = (change[2] + 2 * change[0] + change[1] / 2).abs().max()
    tolerance = step**0.5 * change[:2].abs().max() + 2 * _ROUNDING * step * logits.abs().max()
    return bool(error <= tolerance)  # a head of another kind is off by its own size
