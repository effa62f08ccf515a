"""Backward passes that stay within the range of their numbers, where a network has bottlenecks.

A bottleneck is a place that every path from the output to the input passes. A backward pass is linear
in what it starts from, so one factor for all that goes back there scales its result and changes nothing
else; a factor within one branch would. It is the same factor for all samples, since nobody knows along
which axis of a network's inside they stand, and a power of two, which changes no digit.
"""

from __future__ import annotations

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
    """For as long as the block runs, backward passes from `output` are scaled at every bottleneck.

    The largest absolute value there comes to lie in [0.5, 1), which leaves the samples their proportions.
    """
    handles = [node.register_prehook(_scaled) for node in bottlenecks(output)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _scaled(gradients: tuple[Any, ...]) -> tuple[Any, ...] | None:
    known = [gradient for gradient in gradients if gradient is not None and gradient.numel()]
    if not known:
        return None
    exponents = [int(torch.frexp(gradient.abs().max()).exponent) for gradient in known]
    if not all(bool(torch.isfinite(gradient).all()) for gradient in known):
        return None
    return tuple(None if one is None else torch.ldexp(one, torch.tensor(-max(exponents))) for one in gradients)


def bottlenecks(output: Tensor) -> list[Node]:
    """The steps of the backward pass from `output` that all its paths take, in order."""
    if output.grad_fn is None:
        return []
    waiting = _uses(output.grad_fn)
    found, open_ = [], [output.grad_fn]
    ready = list(open_)
    while ready:
        node = ready.pop()
        if open_ == [node] and node.next_functions:
            found.append(node)
        open_.remove(node)
        for after in _next(node):
            waiting[after] -= 1
            if after not in open_:
                open_.append(after)
            if not waiting[after]:
                ready.append(after)
    return found


def _uses(start: Node) -> Counter[Node]:
    """How many times each step is fed by another."""
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
