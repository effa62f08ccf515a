"""Patterns: for every unit of a network, the direction in its input that its output varies with.

They are made of float64 moments of each linear map's input patches. A weighted sum of patches is the gradient of the
map's output by its weights, whatever the convolution; the commonest is a matrix product, for speed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
import numpy as np
import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn import functional
from salgen.errors import SalgenError, readable
from salgen.evaluation.attribution.arguments import check_images
from salgen.evaluation.attribution.propagation import operations as ops
from salgen.evaluation.attribution.propagation.relevance_network import Affine, RelevanceNetwork, lrp_only_error
from salgen.evaluation.models.inspection.batch_size import WITH_GRADIENT, MicroBatches, images_at_once, memory_budget
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import check_model
from salgen.files import write_bytes

BATCH_SIZE = 32
KIND = "salgen-patterns"
VERSION = "1"  # changes whenever the patterns do
NO_CEILING = (
    "above its ceiling a unit fires but no longer varies, which patterns know nothing of; choose another method, such "
    "as lrp-z, deep-taylor or excitation-backprop"
)
BLOCK = 4e6  # bytes of patches and outputs at once: more does not fit into a cache
NO_VARIATION = 1e-12  # as a share of the operands; rounding in float64 stays below


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of one network, fitted to one set of images."""

    by_map: tuple[Tensor, ...]  # per linear map, in the order of calls: float64, shaped as its weights
    # per linear map: number of units that never fired, or never varied, and so have a zero pattern
    degenerate: tuple[int, ...]

    def matched(self, weights: Sequence[Tensor], precision: torch.dtype) -> list[Tensor]:
        """The patterns of a network with these weights, stored in `precision`; in their type and on their device."""
        shapes, expected = ([tuple(tensor.shape) for tensor in tensors] for tensors in (self.by_map, weights))
        fault = "" if shapes == expected else f"they are of linear maps {shapes}, and its are {expected}"
        pairs = [] if fault else list(zip(self.by_map, weights, strict=True))
        matched = [pattern.to(weight.device, weight.dtype) for pattern, weight in pairs]
        if not all(_fits(pattern, weight, precision) for pattern, weight in zip(matched, weights, strict=False)):
            fault = "a pattern times its weights is not 1"
        if fault:
            raise SalgenError(
                f"the patterns are not those of this model: {fault}; fit patterns to this model with "
                "salgen.fit_patterns(model, images)"
            )
        return matched

    def save(self, path: str | Path) -> None:
        """Write a safetensors file, whole or not at all."""
        tensors = {f"map{place:04d}": pattern.contiguous() for place, pattern in enumerate(self.by_map)}
        data = safetensors.torch.save(tensors, metadata={KIND: json.dumps(self.degenerate)})
        try:
            write_bytes(Path(path), data)
        except OSError as error:
            raise SalgenError(f"cannot write the patterns {path}: {error.strerror or error}") from None

    @classmethod
    def load(cls, path: str | Path) -> Patterns:
        """Read what :meth:`save` wrote."""
        wrong = f"{path} holds no patterns", ": give what Patterns.save wrote"
        with readable(*wrong), safetensors.safe_open(path, "pt") as file:
            degenerate = tuple(json.loads(file.metadata()[KIND]))
            return cls(tuple(file.get_tensor(f"map{place:04d}") for place in range(len(degenerate))), degenerate)


def fit_patterns(
    model: nn.Module | ModelView,
    images: Any | Iterable[Any],
    *,
    preprocess: Any = None,
    max_memory: float | None = None,
) -> Patterns:
    """The patterns of a network's units on a set of images: the signal estimators of Kindermans et al. 2018.

    For a unit with weights w and an input patch x, let y = wᵀx, without bias. Its pattern is
    a = (E₊[xy] - E₊[x] E[y]) / wᵀ(E₊[xy] - E₊[x] E[y]). E is the mean over all patches of all images. E₊ is that over
    patches at which the unit fires: y plus its bias is positive. This is the two-component estimator, for units whose
    output a ReLU takes, perhaps after dropout, a max pool, a change of shape or a batch norm, which is merged into w.
    For any other unit E₊ is E, the linear estimator. A unit that never fires, or whose output never varies, has a zero
    pattern; else wᵀa = 1.

    All is computed in float64, in one pass, in memory that does not grow with the number of images.

    Parameters
    ----------
    model, preprocess
        As :func:`salgen.explain` takes them.
    images
        Floating-point array or tensor (N, C, H, W), or an iterable of such batches; the training
        images, as `explain` takes them.
    max_memory
        GB that may be used on the model's device; half of what is free by default.

    Raises
    ------
    SalgenError
        If an argument is wrong, or the network has other operations than convolutions, linear maps,
        batch norm, ReLU, pooling, sums and dropout.
    """
    moments: list[MapMoments] = []
    if hasattr(images, "shape"):  # no more than a piece of an array is copied
        array: Any = images
        images = (array[start : start + BATCH_SIZE] for start in range(0, len(array), BATCH_SIZE))
    with torch.inference_mode(False):
        view = ModelView.of(model)
        batches: MicroBatches | None = None
        for batch in images:
            if isinstance(batch, (tuple, list)) and not any(isinstance(item, (int, float)) for item in batch):
                raise SalgenError(f"a batch is a {type(batch).__name__}: give images alone, as (x for x, _ in loader)")
            pixels = check_images(batch)
            if batches is None:
                view = view.prepared(preprocess, pixels.shape[1])
            with torch.no_grad():
                inputs = view.normalise(view.like(pixels.clone()))
            if batches is None:
                check_model(view, inputs[:1])
                budget = memory_budget(inputs.device, max_memory)
                batches = MicroBatches(images_at_once(view, inputs[:1], BATCH_SIZE, budget, WITH_GRADIENT))
            _add(moments, view, inputs, batches)
    if batches is None:
        raise SalgenError("there are no images to fit patterns to: give some, preferably the training images")
    return Patterns(*zip(*(map_moments.pattern() for map_moments in moments), strict=True))


def _add(moments: list[MapMoments], view: ModelView, inputs: Tensor, batches: MicroBatches) -> None:
    """Add the moments of normalised images (n, C, h, w)."""
    try:
        with view.failures(inputs, "has no patterns"):
            batches.over(len(inputs), lambda part: _add_part(moments, view, inputs[part]))
    except MemoryError:
        raise SalgenError(
            f"fitting patterns to one image of {tuple(inputs.shape[1:])} needs more memory than {inputs.device} has: "
            "use smaller images or a smaller model"
        ) from None


def _add_part(moments: list[MapMoments], view: ModelView, inputs: Tensor) -> None:
    """Add those of all linear maps in the order of calls, or of none if that fails."""
    network = _Observed.forward("fit_patterns", view, inputs)
    try:
        more = [MapMoments.of(call, place in network.rectified) for place, call in sorted(network.calls.items())]
    finally:
        network.release()
    if not moments:
        moments.extend(more)
    else:
        for own, added in zip(moments, more, strict=True):
            own.add(added)


def _fits(pattern: Tensor, weight: Tensor, precision: torch.dtype) -> bool:
    """True if wᵀa is 1 for every unit whose pattern is not zero, within the weights' precision."""
    terms = (pattern.double() * weight.detach().double()).reshape(len(weight), -1)
    slack = 1e-3 + 10 * torch.finfo(precision).eps * terms.abs().sum(dim=1)
    zero = (pattern == 0).reshape(len(weight), -1).all(dim=1)
    return bool((zero | ((terms.sum(dim=1) - 1).abs() <= slack)).all())


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
        parts = torch.split(call.signal, max(1, int(BLOCK // size)))
        blocks = (_block(call, part, weight, rectified) for part in parts)
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


class _Observed(RelevanceNetwork):
    """A forward pass that notes which linear maps a ReLU follows."""

    def __init__(self, method: str, leaf: Tensor) -> None:
        super().__init__(method, leaf)
        self.rectified: set[int] = set()
        self._sources: dict[int, frozenset[int]] = {}

    def operate(self, operation: ops.Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run the operation; one that only moves, drops or selects values passes its sources on."""
        place = self.linear_maps
        result = super().operate(operation, args, kwargs)
        if self.clipped:
            raise self.refuse("ReLU6", NO_CEILING)
        if self.lrp_only:
            raise lrp_only_error(self.method, self.lrp_only)
        taken = [self._sources.get(id(tensor), frozenset()) for tensor in ops.tensors_in((args, kwargs))]
        sources = frozenset().union(*taken)
        if operation in ops.RELU:
            self.rectified |= sources
        if operation in ops.LINEAR or (operation is functional.batch_norm and self.linear_maps > place):
            sources = frozenset({place})
        elif operation is not functional.batch_norm and operation not in ops.DROPOUT | ops.MOVE | ops.WINNER:
            sources = frozenset()
        self._sources.update((id(tensor), sources) for tensor in ops.tensors_in(result))
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
