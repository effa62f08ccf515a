"""The moments of a network's linear maps that its patterns are made of, in float64.

A sum of input patches, each times a number of its own, is the gradient of a linear map's output with
respect to its weights. So no kind of convolution needs code here; the commonest is a matrix product, for speed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from salgen.errors import SalgenError
from salgen.evaluation.attribution.propagation.operations import (
    DROPOUT,
    LINEAR,
    MOVE,
    RELU,
    WINNER,
    Operation,
    tensors_in,
)
from salgen.evaluation.attribution.propagation.relevance_network import Affine, RelevanceNetwork, lrp_only_error
from salgen.evaluation.models.inspection.model_view import ModelView

NO_CEILING = (
    "above its ceiling a unit fires but no longer varies, which patterns know nothing of; choose another method, such "
    "as lrp-z, deep-taylor or excitation-backprop"
)
BLOCK = 4e6  # bytes of patches and outputs at once: more does not fit into a cache
NO_VARIATION = 1e-12  # as a share of the operands; rounding in float64 stays below


@dataclass
class MapMoments:
    """Sums over the patches x that a linear map takes, with y = wᵀx for each of its U units."""

    weight: Tensor  # w, float64 (U, ...)
    patches: int  # number of patches
    fired: Tensor  # (U,): number of patches at which the unit fired
    y: Tensor  # (U,): the sum of y over all patches
    x: Tensor  # shaped as `weight`: the sums of x, and of xy, over the patches at which the unit fired
    xy: Tensor

    @classmethod
    def of(cls, call: Affine, rectified: bool) -> MapMoments:
        """The moments of one call; if it is not `rectified`, its units always fire."""
        weight = call.weight.detach().double()
        with torch.no_grad():
            outputs = call.call(call.signal[:1], call.weight, None).numel()
        size = 8 * (outputs // len(weight)) * (weight[0].numel() + 4 * len(weight))
        blocks = (
            _block(call, part, weight, rectified) for part in torch.split(call.signal, max(1, int(BLOCK // size)))
        )
        total = next(blocks)
        for block in blocks:
            total.add(block)
        return total

    def add(self, other: MapMoments) -> None:
        """Add the moments of other patches of the same map."""
        self.patches += other.patches
        for own, added in ((self.fired, other.fired), (self.y, other.y), (self.x, other.x), (self.xy, other.xy)):
            own += added

    def pattern(self) -> tuple[Tensor, int]:
        """The patterns, float64 on the CPU and shaped as the weights, and the number that are zero."""
        column = (-1, *[1] * (self.weight.ndim - 1))
        fired = self.fired.clamp(min=1).view(column)
        mean_xy = self.xy / fired
        product = self.x / fired * (self.y / self.patches).view(column)
        along, whole = self._along(mean_xy - product), self._along(mean_xy).abs() + self._along(product).abs()
        zero = along.abs() <= NO_VARIATION * whole
        pattern = (mean_xy - product) / along.masked_fill(zero, 1).view(column)
        return pattern.masked_fill(zero.view(column), 0).cpu(), int(zero.sum())

    def _along(self, direction: Tensor) -> Tensor:
        """wᵀ times a direction, (U,)."""
        return (self.weight * direction).reshape(len(self.weight), -1).sum(dim=1)


@dataclass
class NetworkMoments:
    """The moments of all linear maps, in the order of calls."""

    by_map: list[MapMoments] = field(default_factory=list)

    def add(self, view: ModelView, inputs: Tensor) -> None:
        """Add the moments of normalised images (n, C, h, w), or of none if that fails."""
        network = _Observed.forward("fit_patterns", view, inputs)
        try:
            moments_of_maps = [
                MapMoments.of(call, place in network.rectified) for place, call in sorted(network.calls.items())
            ]
        finally:
            network.release()
        if not self.by_map:
            self.by_map = moments_of_maps
        elif [moments.weight.shape for moments in moments_of_maps] != [moments.weight.shape for moments in self.by_map]:
            raise SalgenError("fit_patterns: the model calls other layers for some images than for others")
        else:
            for own, added in zip(self.by_map, moments_of_maps, strict=True):
                own.add(added)


class _Observed(RelevanceNetwork):
    """A forward pass that notes which linear maps a ReLU follows."""

    def __init__(self, method: str, leaf: Tensor) -> None:
        super().__init__(method, leaf)
        self.rectified: set[int] = set()
        self._sources: dict[int, frozenset[int]] = {}

    def operate(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run the operation; one that only moves, drops or selects values passes its sources on."""
        place = self.linear_maps
        result = super().operate(operation, args, kwargs)
        if self.clipped:
            raise self.refuse("ReLU6", NO_CEILING)
        if self.lrp_only:
            raise lrp_only_error(self.method, self.lrp_only)
        taken = [self._sources.get(id(tensor), frozenset()) for tensor in tensors_in((args, kwargs))]
        sources = frozenset().union(*taken)
        if operation in RELU:
            self.rectified |= sources
        if operation in LINEAR or (operation is functional.batch_norm and self.linear_maps > place):
            sources = frozenset({place})
        elif operation is not functional.batch_norm and operation not in DROPOUT | MOVE | WINNER:
            sources = frozenset()
        self._sources.update((id(tensor), sources) for tensor in tensors_in(result))
        return result


def _block(call: Affine, signal: Tensor, weight: Tensor, rectified: bool) -> MapMoments:
    """The moments of a part of a call's input."""
    signal = signal.detach().double()
    patches = _patches(call, signal)
    if patches is not None:  # several times as fast as below: float64 convolutions are slow on a processor
        y, units = weight.flatten(1) @ patches, 0
    else:
        free = weight.clone().requires_grad_()
        with torch.enable_grad():
            output = call.call(signal, free, None)
        y = output.detach()
        units = 1 if weight.ndim == 1 else y.ndim - weight.ndim + 1  # the axis on which the units stand
    fires = torch.ones_like(y)
    if rectified and call.bias is not None:
        column = [-1 if axis == units else 1 for axis in range(y.ndim)]
        fires = (y + call.bias.detach().double().view(column) > 0).double()
    elif rectified:
        fires = (y > 0).double()
    if patches is not None:
        x, xy = ((factor @ patches.T).view_as(weight) for factor in (fires, fires * y))
    else:
        (x,) = torch.autograd.grad(output, free, fires, retain_graph=True)
        (xy,) = torch.autograd.grad(output, free, fires * y)
    other_axes = [axis for axis in range(y.ndim) if axis != units]
    return MapMoments(weight, y.numel() // len(weight), fires.sum(dim=other_axes), y.sum(dim=other_axes), x, xy)


def _patches(call: Affine, signal: Tensor) -> Tensor | None:
    """The patches (D, patches) that a 2-d convolution without groups or dilation takes; None for other maps."""
    if call.operation is not torch.conv2d:
        return None
    options = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, **call.options}
    if options["groups"] != 1 or np.any(np.asarray(options["dilation"]) != 1):
        return None
    height, width = call.weight.shape[2:]
    if options["padding"] == "same":
        margins = ((width - 1) // 2, width // 2, (height - 1) // 2, height // 2)
    else:
        down, right = np.broadcast_to(0 if options["padding"] == "valid" else options["padding"], 2).tolist()
        margins = (right, right, down, down)
    steps = np.broadcast_to(options["stride"], 2).tolist()
    windows = functional.pad(signal, margins).unfold(2, height, steps[0]).unfold(3, width, steps[1])
    return windows.permute(1, 4, 5, 0, 2, 3).reshape(call.weight[0].numel(), -1)
