"""A hook of zennit's whose rule is chosen during the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from torch import nn
from zennit.core import BasicHook


class Chosen(BasicHook):  # type: ignore[misc]
    """A hook whose rule is chosen in the backward pass; None is the plain gradient. One forward pass serves several."""

    def __init__(self, choose: Callable[[], BasicHook | None]) -> None:
        super().__init__()
        self.choose = choose

    def backward(self, module: nn.Module, grad_input: Any, grad_output: Any) -> Any:
        """The rule's gradient of the input."""
        rule = self.choose()
        if rule is None:
            return None
        rule.stored_tensors = self.stored_tensors
        return rule.backward(module, grad_input, grad_output)

    def copy(self) -> Chosen:
        """A hook for another call, with the same choice."""
        return Chosen(self.choose)
