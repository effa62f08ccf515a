"""PatternNet and PatternAttribution: the gradient through the pattern that each unit responds to in the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar
import torch
from torch import Tensor
from torch.autograd.graph import Node
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.attribution.patterns import NO_CEILING, Patterns
from salgen.evaluation.attribution.propagation.relevance_network import Rules
from salgen.evaluation.attribution.relevance import STARTS, first_maps, relevance, relevance_network
from salgen.evaluation.methods.lrp import RelevanceMethod
from salgen.evaluation.models.inspection.model_view import ModelView, private_copy
from salgen.parameters import param

if TYPE_CHECKING:
    from zennit.core import BasicHook

NAMES = ("pattern-net", "pattern-attribution")

REFERENCE = (
    "Kindermans et al. 2018, Learning how to explain neural networks: PatternNet and PatternAttribution, "
    "doi:10.48550/arXiv.1705.05598"
)


@dataclass(frozen=True)
class PatternMethod(RelevanceMethod):
    """The plain gradient, but for other weights in every linear map.

    Bias plays no part on the way back. A ReLU passes where it was positive on the way forward, a max pool to the
    winner. Sums and averages share as in the gradient.
    """

    name: ClassVar[str]
    reference: ClassVar[str] = REFERENCE
    times_weights: ClassVar[bool] = False  # whether the other weights are patterns times weights, or patterns alone
    needs: ClassVar[frozenset[str]] = frozenset({"model", "patterns"})
    version: ClassVar[str] = "2"
    defined_for: ClassVar[str] = "networks of convolutions, linear maps, batch norm, ReLU, pooling, sums and dropout"

    project: bool = param(True, "scale maps to a largest absolute value of 1; else deep networks may overflow")
    start: str = param("one", "where the output starts", choices=STARTS)

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other operations, and ReLUs with a ceiling."""
        super().check(model, image)
        if first_maps(self.name, model, image).clipped:
            raise SalgenError(f"{self.name} has no rule for ReLU6: {NO_CEILING}")

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        signal = self._signal(context)
        overflown = ~signal.isfinite().flatten(1).all(dim=1)
        if self.project and bool(overflown.any()):  # as between the bottlenecks of a dense block
            signal[overflown] = self._signal(_in_double(context))[overflown].to(signal)
        return signal

    def _signal(self, context: AttributionContext) -> Tensor:
        network = relevance_network(context, self.name)
        fitted, weights = context.patterns, [network.calls[place].weight for place in range(network.linear_maps)]
        assert fitted is not None  # the method declares that it needs them
        patterns = context.cache.get(Patterns, lambda: fitted.matched(weights, context.model.precision))
        pairs = zip(weights, patterns, strict=True)
        rules = [_gradient_with(weight * pattern if self.times_weights else pattern) for weight, pattern in pairs]
        chosen = Rules(linear=lambda place: rules[place.position], passing=None, sharing=None)
        with projected(network.output) if self.project else nullcontext():
            signal = relevance(context, self.name, chosen, self.start)
        return project(signal) if self.project else signal


@dataclass(frozen=True)
class PatternNet(PatternMethod):
    """The signal that the output was made of: the gradient, with each unit's pattern for its weights.

    ``project`` also scales what leads to the map where the network has a bottleneck.
    """

    name: ClassVar[str] = "pattern-net"


@dataclass(frozen=True)
class PatternAttribution(PatternMethod):
    """The signal's share of the output: the gradient, with each unit's pattern times its weights."""

    name: ClassVar[str] = "pattern-attribution"
    times_weights: ClassVar[bool] = True


def _in_double(context: AttributionContext) -> AttributionContext:
    """The same question to a copy of the network in double precision."""
    network = private_copy(context.model.network, context.model.network).double()
    return context.again(
        PassRequirements(), model=replace(context.model, network=network), inputs=context.inputs.double()
    )


def _gradient_with(weight: Tensor) -> BasicHook:
    """The gradient of a linear map as if `weight` were its weights."""
    from zennit.core import BasicHook, ParamMod

    return BasicHook(
        param_modifiers=[ParamMod(lambda _parameter, _name: weight, param_keys=["weight"])],
        gradient_mapper=lambda gradient, _outputs: [gradient],
        reducer=lambda _inputs, gradients: gradients[0],
    )


def project(values: Tensor) -> Tensor:
    """Each sample of (n, ...) divided by its largest absolute value; zeros stay zeros."""
    largest = values.abs().reshape(len(values), -1).amax(dim=1)
    return values / torch.where(largest > 0, largest, 1).view(-1, *[1] * (values.ndim - 1))


@contextmanager
def projected(output: Tensor) -> Iterator[None]:
    """Scale backward passes from `output` at every bottleneck for as long as the block runs.

    Every path from the output to the input passes a bottleneck, so one factor there changes nothing else. All samples
    share it, since their axis inside a network is not known. It is a power of two, which changes no digit, and brings
    the largest absolute value there into [0.5, 1).
    """
    handles = [node.register_prehook(_scale) for node in bottlenecks(output)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _scale(gradients: tuple[Any, ...]) -> tuple[Any, ...] | None:
    present = [gradient for gradient in gradients if gradient is not None and gradient.numel()]
    if not present:
        return None
    exponents = [int(torch.frexp(gradient.abs().max()).exponent) for gradient in present]
    if not all(bool(torch.isfinite(gradient).all()) for gradient in present):
        return None
    return tuple(None if grad is None else torch.ldexp(grad, torch.tensor(-max(exponents))) for grad in gradients)


def bottlenecks(output: Tensor) -> list[Node]:
    """The steps of the backward pass from `output` that all its paths take, in order."""
    if output.grad_fn is None:
        return []
    waiting = _uses(output.grad_fn)
    passed, open_ = [], [output.grad_fn]
    ready = list(open_)
    while ready:
        node = ready.pop()
        if open_ == [node] and node.next_functions:
            passed.append(node)
        open_.remove(node)
        for successor in _next(node):
            waiting[successor] -= 1
            if successor not in open_:
                open_.append(successor)
            if not waiting[successor]:
                ready.append(successor)
    return passed


def _uses(start: Node) -> Counter[Node]:
    """Number of times that each step is fed by another."""
    uses: Counter[Node] = Counter()
    unseen = [start]
    while unseen:
        for after in _next(unseen.pop()):
            if after not in uses:
                unseen.append(after)
            uses[after] += 1
    return uses


def _next(node: Node) -> list[Node]:
    return [after for after, _ in node.next_functions if after is not None]
