"""Backward passes that stay within the range of their numbers, where a network has bottlenecks.

A bottleneck is a place that every path from the output to the input passes. A backward pass is linear
in what it starts from, so one factor for all that goes back there scales its result and changes nothing
else; a factor within one branch would. It is the same factor for all samples, since the axis of the
samples inside a network is not known, and a power of two, which changes no digit.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import Node


def project(values: Tensor) -> Tensor:
    """Each sample of (n, ...) divided by its largest absolute value; zeros stay zeros."""
    largest = values.abs().reshape(len(values), -1).amax(dim=1)
    return values / torch.where(largest > 0, largest, 1).view(-1, *[1] * (values.ndim - 1))


@contextmanager
def projected(output: Tensor) -> Iterator[None]:
    """Scale backward passes from `output` at every bottleneck for as long as the block runs.

    The largest absolute value there comes to lie in [0.5, 1), which leaves the samples their proportions.
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
