"""The operations of a forward pass that take a gradient and give none."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

_ROUNDING = frozenset({"round", "floor", "ceil", "trunc", "sign", "round_", "floor_", "ceil_", "trunc_", "sign_"})
_TO_PYTHON = frozenset({"item", "tolist", "__float__"})
_CASTS = frozenset({"to", "type", "type_as", "int", "long", "short", "char", "byte", "copy_"})
_MIXING = frozenset({"linear", "conv1d", "conv2d", "conv3d", "matmul", "__matmul__", "bmm", "mm", "addmm"})


@dataclass
class Loss:
    """Where the gradient was lost, and the values that lost it."""

    kind: str  # "value", "cast" to integers, or "step", whose derivative is zero
    where: str
    values: list[Tensor]


class Losses(TorchFunctionMode):
    """Finds each operation of a pass that takes a gradient and gives none; `held` ones give their earlier values."""

    def __init__(self, network: nn.Module, held: Sequence[Loss | None] = ()) -> None:
        super().__init__()
        self.names = {module: name for name, module in network.named_modules()}
        self.held, self.found = held, list[Loss]()
        self._rounded: dict[int, Tensor] = {}  # holding a tensor keeps its id its own

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        name = getattr(func, "__name__", str(func))
        made = [torch.tensor(result)] if name in _TO_PYTHON else made
        if not given or not made:
            return result
        real = made[0].is_floating_point() or made[0].is_quantized
        cast = name in _CASTS and not real and made[0].dtype != torch.bool
        estimated = name not in _MIXING and any(id(tensor) in self._rounded for tensor in given)
        if name in _ROUNDING or cast or estimated:
            self._rounded.update((id(tensor), tensor) for tensor in made)
        kind = "cast" if cast else "value" if real and name not in _ROUNDING else "step"
        unbroken = kind == "value" and (estimated or not all(map(_is_lost, made)))
        if unbroken or all(map(_is_lost, given)) or not (where := self._where()):
            return result
        self.found.append(Loss(kind, f"{'.data' if name == '__get__' else name} in {where}", made))
        held = self.held[len(self.found) - 1] if len(self.found) <= len(self.held) else None
        if held is None:
            return result
        if made[0] is given[0]:  # in place
            with torch.no_grad():
                return made[0].copy_(held.values[0])
        if name in _TO_PYTHON:
            return held.values[0].tolist()
        values = iter(held.values)
        return tree_map(lambda leaf: next(values).detach().clone() if isinstance(leaf, Tensor) else leaf, result)

    def _where(self) -> str:
        """The innermost module that runs; empty within an autograd function, which has a backward of its own."""
        frame, where = sys._getframe(2), ""
        while frame.f_back is not None:
            owner = frame.f_locals.get("cls") if frame.f_code.co_name == "apply" else None
            if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
                return ""
            module = frame.f_locals.get("self")
            if not where and isinstance(module, nn.Module) and module in self.names:
                where = f"{self.names[module] or 'its forward'!r} ({type(module).__name__})"
            frame = frame.f_back
        return where or "its forward"


def _is_lost(tensor: Tensor) -> bool:
    """True if no gradient goes back from a tensor, as from an operation of integers or of custom code."""
    return not tensor.requires_grad or (tensor.grad_fn is not None and "NotImplemented" in tensor.grad_fn.name())
