"""Bounds of what a network's first linear maps take, made of bounds of the network's input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from salgen.errors import SalgenError
from salgen.evaluation.attribution.propagation.operations import ADD, Operation, name_of, tensors_in

Box = tuple[Tensor, Tensor]  # lowest and highest values
Bounds = Callable[[Box], Box]


class InputBounds:
    """Follows a network's input through what moves, scales, pools or adds up its values.

    Parameters
    ----------
    leaf
        The network's input.
    """

    def __init__(self, leaf: Tensor) -> None:
        self._known: dict[int, Bounds] = {id(leaf): lambda box: box}

    def of(self, signal: Tensor) -> Bounds | None:
        """Makes bounds of `signal` of bounds of the input; None if a linear map or a ReLU came before.

        It raises a SalgenError where the bounds are not known.
        """
        return self._known.get(id(signal))

    def follow(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """Note an operation whose output grows with each of its inputs, or falls with all."""
        signals = [tensor for tensor in tensors_in((args, kwargs)) if tensor.requires_grad]
        known = {id(signal): self._known[id(signal)] for signal in signals if id(signal) in self._known}
        if not known:
            return
        partly = any(id(signal) not in known for signal in signals)
        call = torch.add if operation in ADD else operation  # bounds are not changed in place
        for number, output in enumerate(tensors_in(result)):
            if id(output) not in known:
                unknown = partial(_unknown, name_of(operation))
                self._known[id(output)] = unknown if partly else partial(_mapped, call, args, kwargs, known, number)


def _mapped(
    operation: Operation,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    known: Mapping[int, Bounds],
    number: int,
    box: Box,
) -> Box:
    """Bounds of the operation's output of that number."""
    boxes = {key: bounds(box) for key, bounds in known.items()}
    with torch.no_grad():
        ends = [operation(*_replaced(args, boxes, end), **_replaced(kwargs, boxes, end)) for end in (0, 1)]
    one, other = (list(tensors_in(end))[number] for end in ends)
    return torch.minimum(one, other), torch.maximum(one, other)


def _unknown(operation: str, _box: Box) -> Box:
    raise SalgenError(
        f"a layer takes the network's input together with what other layers made of it ({operation}), "
        "so that its bounds are not known"
    )


def _replaced(values: Any, boxes: Mapping[int, Box], end: int) -> Any:
    """Nested arguments with one end of its bounds for every tensor that has some."""
    if isinstance(values, Tensor):
        return boxes[id(values)][end] if id(values) in boxes else values
    if isinstance(values, dict):
        return {key: _replaced(value, boxes, end) for key, value in values.items()}
    if isinstance(values, (tuple, list)):
        replaced = [_replaced(value, boxes, end) for value in values]
        return replaced if isinstance(values, list) else tuple(replaced)
    return values
