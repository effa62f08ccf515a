"""PatternNet and PatternAttribution: the gradient through the pattern that each unit responds to in the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
import torch
from torch import Tensor
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

SMALLEST = 1e-30  # largest value of a map whose steps may vanish in single precision

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

    reference = REFERENCE
    times_weights = False  # whether the other weights are patterns times weights, or patterns alone
    needs = frozenset({"model", "patterns"})
    version = "2"
    defined_for = "networks of convolutions, linear maps, batch norm, ReLU, pooling, sums and dropout"

    project: bool = param(True, "scale maps to a largest absolute value of 1; else maps of deep networks may overflow")
    start: str = param("one", "where the output starts", choices=STARTS)

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other operations, and ReLUs with a ceiling."""
        super().check(model, image)
        if first_maps(self.name, model, image).clipped:
            raise SalgenError(f"{self.name} has no rule for ReLU6: {NO_CEILING}")

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        signal = self._signal(context)
        if not self.project:
            return signal
        size = signal.abs().flatten(1).amax(dim=1)
        lost = ~((size > SMALLEST) & (size < torch.inf))
        if bool(lost.any()):  # beyond the range of single precision
            signal = signal.double()
            signal[lost] = self._signal(_in_double(context))[lost]
        return project(signal).to(context.inputs)

    def _signal(self, context: AttributionContext) -> Tensor:
        network = relevance_network(context, self.name)
        fitted, weights = context.patterns, [network.calls[place].weight for place in range(network.linear_maps)]
        assert fitted is not None  # the method declares that it needs them
        patterns = context.cache.get(Patterns, lambda: fitted.matched(weights, context.model.precision))
        pairs = zip(weights, patterns, strict=True)
        rules = [_gradient_with(weight * pattern if self.times_weights else pattern) for weight, pattern in pairs]
        chosen = Rules(linear=lambda place: rules[place.position], passing=None, sharing=None)
        return relevance(context, self.name, chosen, self.start)


@dataclass(frozen=True)
class PatternNet(PatternMethod):
    """The signal that the output was made of: the gradient, with each unit's pattern for its weights."""

    name = "pattern-net"


@dataclass(frozen=True)
class PatternAttribution(PatternMethod):
    """The signal's share of the output: the gradient, with each unit's pattern times its weights."""

    name = "pattern-attribution"
    times_weights = True


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
