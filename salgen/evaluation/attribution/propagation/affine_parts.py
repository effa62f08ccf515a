"""Operations that are affine in their signals, judged call by call."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from salgen.evaluation.attribution.propagation.operations import (
    ADD,
    AVERAGE,
    DROPOUT,
    LINEAR,
    MOVE,
    SCALE,
    Operation,
    tensors_in,
)

SUMS = ADD | {
    *(torch.sub, Tensor.sub, Tensor.sub_, torch.rsub, Tensor.__rsub__, torch.subtract, Tensor.subtract),
    *(torch.neg, Tensor.neg, torch.negative, Tensor.negative, torch.cumsum, Tensor.cumsum),
    *(functional.interpolate, functional.unfold, functional.fold),
}
DIVISIONS = frozenset(
    {torch.div, Tensor.div, Tensor.div_, torch.divide, Tensor.divide, torch.true_divide, Tensor.true_divide}
)
PRODUCTS = (SCALE - DIVISIONS) | {
    *(Tensor.mul_, torch.multiply, Tensor.multiply, torch.einsum),
    *(torch.matmul, Tensor.matmul, torch.mm, Tensor.mm, torch.bmm, Tensor.bmm),
    *(torch.conv_transpose1d, torch.conv_transpose2d, torch.conv_transpose3d),
}
FILLED = frozenset({torch.zeros_like, torch.ones_like, Tensor.new_zeros, Tensor.new_ones, Tensor.new_full})
READS = frozenset({Tensor.item, Tensor.tolist, Tensor.numpy, Tensor.__float__, Tensor.__bool__, Tensor.__int__})


def is_affine(operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """True if the result is affine in the signals, the arguments that require a gradient.

    Norms are affine where they use stored statistics instead of the signal's.
    """
    signals = sum(tensor.requires_grad for tensor in tensors_in((args, kwargs)))
    first = args[0] if args else kwargs.get("input")
    if operation is functional.batch_norm:
        return not (kwargs.get("training") or (len(args) > 5 and args[5])) and args[1] is not None
    if operation is functional.instance_norm:
        return not kwargs.get("use_input_stats", True)
    if operation in DIVISIONS:
        rounded = kwargs.get("rounding_mode") is not None
        return signals == 1 and isinstance(first, Tensor) and first.requires_grad and not rounded
    if operation in LINEAR | PRODUCTS:
        return signals == 1
    return operation in SUMS | AVERAGE | MOVE | DROPOUT
