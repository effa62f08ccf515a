"""Layer-wise relevance propagation: from the class down to the input, by the rules that a method chooses."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from zennit.core import BasicHook
from zennit.rules import Pass

from salgen.evaluation.relevance_network import LinearMap, RelevanceNetwork, Rules
from salgen.evaluation.request import Request

STARTS = ("one", "logit")


def stabilised(epsilon: float) -> float | Callable[[Tensor], Tensor]:
    """What zennit's rules take as stabiliser: `epsilon` is added to a denominator, with its sign.

    Without it a denominator that is exactly zero becomes one, so that what it divides stays zero.
    """
    return epsilon if epsilon else lambda total: torch.where(total == 0, torch.ones_like(total), total)


def mixing(rule: BasicHook) -> Callable[[LinearMap], BasicHook]:
    """A choice of `rule` for the linear maps that mix their inputs; the others pass relevance on.

    A rule that takes positive and negative contributions apart would multiply the relevance of every
    value that is only scaled: by alpha, or by -beta.
    """
    return lambda layer: Pass() if layer.elementwise else rule


def relevance(request: Request, method: str, rules: Rules, start: str, *, positive: bool = False) -> Tensor:
    """The relevance of each input element, (n, C, h, w).

    Parameters
    ----------
    request
        What to explain.
    method
        The method's name, for errors.
    rules
        How relevance goes through each operation.
    start
        ``"one"``: the output starts with relevance +1 at the target (and -1 at the best other class
        of a margin); ``"logit"``: with the logit instead of one.
    positive
        Whether ``start="logit"`` takes the positive part of the logit.
    """
    network = relevance_network(request, method)
    logits = network.output.detach()
    initial = request.start(logits)
    if start == "logit":
        initial = initial * (logits.clamp(min=0) if positive else logits)
    return network.propagate(rules, network.output, initial, network.leaf)


def relevance_network(request: Request, method: str) -> RelevanceNetwork:
    """The batch's forward pass, run once for all methods that propagate relevance."""
    return request.once.get(
        RelevanceNetwork,
        lambda: RelevanceNetwork.forward(method, request.model, request.inputs, request.passes.logits),
    )
