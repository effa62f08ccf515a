"""Bounds of the inputs of a network's first linear maps, derived from bounds of the network's input."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.propagation.operations import ADD, Operation, name_of, tensors_in

Box = tuple[Tensor, Tensor]  # lowest and highest values
Bounds = Callable[[Box], Box]


def follow_bounds(
    known: dict[int, Bounds], operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any
) -> None:
    """Note an operation whose output grows with each of its inputs, or falls with all.

    `known` maps the id of each signal before the first linear map or ReLU to a function. It takes bounds of the
    network's input to the signal's. It raises a SalgenError where they are not known.
    """
    signals = [tensor for tensor in tensors_in((args, kwargs)) if tensor.requires_grad]
    bounds = {id(signal): known[id(signal)] for signal in signals if id(signal) in known}
    if not bounds:
        return
    partly = any(id(signal) not in bounds for signal in signals)
    call = torch.add if operation in ADD else operation  # bounds are not changed in place
    for number, output in enumerate(tensors_in(result)):
        if id(output) not in bounds:
            mapped = partial(_map_bounds, call, args, kwargs, bounds, number)
            known[id(output)] = partial(_refuse_bounds, name_of(operation)) if partly else mapped


def _map_bounds(
    operation: Operation, args: Sequence[Any], kwargs: Any, signal_bounds: Mapping[int, Bounds], number: int, box: Box
) -> Box:
    """Bounds of the operation's output of that number."""
    boxes = {key: bounds(box) for key, bounds in signal_bounds.items()}
    with torch.no_grad():
        ends = [
            operation(*_replace_signals(args, boxes, end), **_replace_signals(kwargs, boxes, end)) for end in (0, 1)
        ]
    first, second = (list(tensors_in(end))[number] for end in ends)
    return torch.minimum(first, second), torch.maximum(first, second)


def _refuse_bounds(operation: str, _box: Box) -> Box:
    raise SalgenError(
        f"a layer combines the network's input with outputs of other layers ({operation}), "
        "so the bounds of its input are not known"
    )


def _replace_signals(values: Any, boxes: Mapping[int, Box], end: int) -> Any:
    """Nested arguments with one end of its bounds for every tensor that has some."""
    if isinstance(values, Tensor):
        return boxes[id(values)][end] if id(values) in boxes else values
    if isinstance(values, dict):
        return {key: _replace_signals(value, boxes, end) for key, value in values.items()}
    if isinstance(values, (tuple, list)):
        replaced = [_replace_signals(value, boxes, end) for value in values]
        return replaced if isinstance(values, list) else tuple(replaced)
    return values
