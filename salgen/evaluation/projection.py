"""Backward passes that stay within ±1, where a network has bottlenecks.

A bottleneck is a place that every path from the output to the input passes. A backward pass is linear
in what it starts from, so scaling a sample's gradient there scales its result and changes nothing
else; scaling it within one branch would.
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
    """For as long as the block runs, backward passes from `output` (n, ...) are projected at every bottleneck."""
    count = len(output)

    def scale(gradients: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if len(gradients) != 1 or gradients[0] is None or gradients[0].ndim == 0 or len(gradients[0]) != count:
            return None
        return (project(gradients[0]),)

    handles = [node.register_prehook(scale) for node in bottlenecks(output)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


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
