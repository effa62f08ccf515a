"""Layer-wise relevance propagation: from the class down to the input, by the rules that a method chooses."""

from collections.abc import Callable
from dataclasses import dataclass
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.propagation.relevance_network import RelevanceNetwork, Rules
from salgen.evaluation.models.inspection.gradient_check import check_gradient
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache

STARTS = ("one", "logit")


def stabilised(epsilon: float) -> float | Callable[[Tensor], Tensor]:
    """The stabiliser of zennit's rules: `epsilon` with a denominator's sign; if 0, zero denominators become 1."""
    return epsilon if epsilon else lambda total: torch.where(total == 0, torch.ones_like(total), total)


def relevance(context: AttributionContext, method: str, rules: Rules, start: str, *, positive: bool = False) -> Tensor:
    """The relevance of each input element, (n, C, h, w).

    The output starts with relevance +1 at the target (and -1 at the best other class of a margin). With
    ``start="logit"`` that is times the logit, or its positive part where `positive`.
    """
    network = relevance_network(context, method)
    logits = network.output.detach()
    initial = context.start(logits)
    if start == "logit":
        initial = initial * (logits.clamp(min=0) if positive else logits)
    return network.propagate(rules, network.output, initial, network.leaf)


def last_mixing(network: RelevanceNetwork) -> int:
    """The position of the last linear map that mixes its inputs; -1 if there is none."""
    return max((place for place, call in network.calls.items() if not call.elementwise), default=-1)


@dataclass(frozen=True)
class FirstMaps:
    """The linear maps that take a network's own input."""

    # their places in the order of calls, without the very last map's; those that only scale each value do not count,
    # but what they scale does
    positions: tuple[int, ...]
    unbounded: str  # the reason why the bounds of their inputs are not known; empty if they are
    clipped: bool = False  # whether the network has a ReLU with a ceiling, such as ReLU6
    lrp_only: str = ""  # the first operation that only LRP has a rule for; empty if there is none


def first_maps(method: str, view: ModelView, image: Tensor) -> FirstMaps:
    """The first linear maps for images (1, C, h, w) like this one."""
    check_gradient(method, view, image)
    return _first_maps.of(method, view, image)


def _find_first_maps(method: str, view: ModelView, image: Tensor) -> FirstMaps:
    network = RelevanceNetwork.forward(method, view, image)
    try:
        last = last_mixing(network)
        mixing = {place: call for place, call in network.calls.items() if place != last and not call.elementwise}
        first = {place: call.from_input for place, call in mixing.items() if call.from_input is not None}
        leaf, unbounded = network.leaf.detach(), ""
        try:
            for bounds in first.values():
                bounds((leaf, leaf))
        except SalgenError as error:
            unbounded = str(error)
        return FirstMaps(tuple(first), unbounded, network.clipped, network.lrp_only)
    finally:
        network.release()


_first_maps = NetworkCache(_find_first_maps)


def relevance_network(context: AttributionContext, method: str) -> RelevanceNetwork:
    """The batch's forward pass, run once for all methods that propagate relevance."""
    return context.cache.get(
        RelevanceNetwork, lambda: RelevanceNetwork.forward(method, context.model, context.inputs, context.passes.logits)
    )
