"""Poly-CAM: class activation maps of several layers, the deep ones sharpened by the shallow ones.

Each channel of a layer is weighted by the network's output for the image under a mask made from
that channel; each layer's map, normalised by its own local mean, multiplies the map of the layers
after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method, output_param
from salgen.evaluation.attribution.class_activation import layer_names
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.models.inspection.layers import layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace
from salgen.parameters import param

OUTLIERS = 0.001  # share of a map's values that is clipped at either end
AUTHORS_FLOOR = 1e-12  # a local mean below it counts as that much
FLOOR = 1e-6  # the same of a map's largest value
LARGEST = 1e30  # largest value of a map: where local means are zero, detail grows 1e12 times with each layer


@dataclass(frozen=True)
class PolyCam(Method):
    """The base of the three variants, which differ in their channels' weights."""

    family = "CAM"
    cost = "1 per channel"
    kinds: ClassVar[tuple[str, ...]]  # what a channel's weight is the sum of, see `_compare`
    reference = (
        "Englebert et al. 2022, Poly-CAM: high resolution class activation map for convolutional neural networks, "
        "doi:10.48550/arXiv.2204.13359"
    )
    signed = False
    resolution = "the first layer's"
    defined_for = "networks with ReLU layers of several resolutions, or whose layers= are named"
    shares = "poly-cam"
    quick: ClassVar = {"channels": 3}
    scales: ClassVar = {"demo": {"channels": 8}, "small": {"channels": 32}}

    layers: str | None = param(None, "dotted names joined by +; default: the last of each resolution")
    channels: int | None = param(
        None, "per layer, only this many channels, those of largest mean; all by default", low=1
    )
    output: str = output_param()
    compat: bool = param(True, "scale masks and local means as the authors' code does")

    def check(self, model: ModelView, image: Tensor) -> None:
        """Raise a SalgenError if there is no layer, or one that gives no channels, or is named twice."""
        names = self._layers(model, image)
        if not names:
            raise SalgenError(
                f"{self.name} finds no ReLU with a spatial output in the model: name layers=, or choose a method that "
                "takes any layer, such as grad-cam, layer-cam or score-cam"
            )
        for name in names:
            layer_grid(model, image, name)

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The layers."""
        return PassRequirements(layers=frozenset(self._layers(model, image)))

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w) at the resolution of the first layer."""
        first, *finer_layers = reversed(self._layers(context.model, context.inputs[:1]))
        combined = self._map(context, first)
        for layer in finer_layers:
            finer = self._map(context, layer)
            floor = AUTHORS_FLOOR if self.compat else FLOOR * finer.amax(dim=(2, 3), keepdim=True)
            local = resize(resize(finer, combined.shape[2:]), finer.shape[2:])  # divided by it, only detail remains
            detail = finer / local.clamp(min=floor).clamp(min=torch.finfo(finer.dtype).tiny)
            combined = detail * resize(combined, finer.shape[2:])
        return combined.clamp(max=LARGEST)

    def _layers(self, model: ModelView, image: Tensor) -> list[str]:
        trace = NetworkTrace.of(model, image)
        names = layer_names(self.layers) if self.layers else trace.stages
        return sorted(names, key=[*trace.outputs, *names].index)  # in running order

    def _map(self, context: AttributionContext, layer: str) -> Tensor:
        """One layer's channels, weighted, summed and rectified: float64 (n, 1, h, w)."""
        activations = context.activations(layer)
        weights = torch.stack([self._compare(context, layer, kind) for kind in self.kinds]).sum(dim=0)
        weights = (weights.clamp(min=0) if "fall" in self.kinds else weights).to(activations)
        return torch.einsum("nk,nkhw->nhw", weights, activations)[:, None].double().clamp(min=0)

    def _compare(self, context: AttributionContext, layer: str, kind: str) -> Tensor:
        """Per image and channel (n, K), the value where the mask is ``"kept"``, or the ``"fall"`` where it is removed.

        It is 0 for channels that are left out.
        """

        def compute() -> Tensor:
            activations = context.activations(layer)
            chosen = _choose_channels(activations, self.channels)
            owners, numbers = chosen.nonzero(as_tuple=True)

            def inputs(part: slice) -> Tensor:
                images = context.inputs[owners[part]]
                masks = self._masks(activations[owners[part], numbers[part], None], images.shape[2:]).to(images)
                return images * (masks if kind == "kept" else 1 - masks)

            values = context.values_of(self.output, owners, inputs)
            if kind == "fall":
                values = context.values(self.output)[owners] - values
            return values.new_zeros(chosen.shape).index_put_((owners, numbers), values)

        return context.cache.get(("poly-cam", layer, kind, self.channels, self.output, self.compat), compute)

    def _masks(self, channels: Tensor, size: Sequence[int]) -> Tensor:
        """Channels (m, 1, h, w) as masks of the image's size, in [0, 1]."""
        if self.compat:
            low, high = _percentiles(channels)
            # so a channel that is nowhere near zero hardly masks anything
            return resize(((channels - low) / high.clamp(min=1e-12)).clamp(0, 1), size)
        enlarged = resize(channels, size)
        low, high = _percentiles(enlarged)
        return ((enlarged - low) / (high - low).clamp(min=torch.finfo(low.dtype).tiny)).clamp(0, 1)


@dataclass(frozen=True)
class PolyCamPlus(PolyCam):
    """Poly-CAM+: a channel weighs the network's output where the channel keeps the image.

    With percentiles p0.1 and p99.9 a mask is (x - p0.1) / p99.9, then enlarged; local means have a floor of 1e-12. With
    ``compat=false`` it is enlarged, then (x - p0.1) / (p99.9 - p0.1), and the floor is 1e-6 of the largest value.
    """

    name = "poly-cam-plus"
    kinds = ("kept",)


@dataclass(frozen=True)
class PolyCamMinus(PolyCam):
    """Poly-CAM-: a channel weighs the fall of the output where the channel removes the image, if it falls.

    Masks are as in `poly-cam-plus`.
    """

    name = "poly-cam-minus"
    kinds = ("fall",)


@dataclass(frozen=True)
class PolyCamPm(PolyCam):
    """Poly-CAM+-: a channel weighs the sum of Poly-CAM+'s weight and of the fall of Poly-CAM-, if positive.

    Masks are as in `poly-cam-plus`.
    """

    name = "poly-cam-pm"
    cost = "2 per channel"
    kinds = ("kept", "fall")


def _choose_channels(activations: Tensor, most: int | None) -> Tensor:
    """The channels that are not zero everywhere, at most `most` of them, by their mean: bool (n, K)."""
    alive = (activations != 0).flatten(2).any(dim=2)
    if most is None or most >= alive.shape[1]:
        return alive
    order = activations.mean(dim=(2, 3)).argsort(dim=1, descending=True, stable=True)
    return alive & torch.zeros_like(alive).scatter_(1, order[:, :most], True)


def _percentiles(maps: Tensor) -> tuple[Tensor, Tensor]:
    """The 0.1 and 99.9 percentiles of each map (m, 1, h, w), between neighbours linearly: each (m, 1, 1, 1).

    The few extreme values are selected, which is twenty times faster than sorting all.
    """
    values = maps.flatten(2)
    place = OUTLIERS * (values.shape[2] - 1)
    count = min(int(place) + 2, values.shape[2])

    def value(largest: bool) -> Tensor:
        ends = values.topk(count, dim=2, largest=largest).values
        return torch.lerp(ends[:, :, int(place)], ends[:, :, -1], place - int(place))[:, :, None, None]

    return value(largest=False), value(largest=True)
