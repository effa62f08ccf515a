"""Guided backpropagation and DeconvNet: the gradient with another rule at every ReLU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from salgen.evaluation.methods.declarations import Explanation
from salgen.evaluation.operations import RELU, Operation, Rewiring, name_of
from salgen.evaluation.request import Request

NAMES = ("guided-backprop", "deconvnet")

_SMOOTH = "gelu silu mish elu selu celu softplus softsign logsigmoid sigmoid tanh hardsigmoid hardswish"
_PIECEWISE = "relu6 leaky_relu prelu rrelu hardtanh hardshrink softshrink tanhshrink threshold glu"
_PLAIN = "sigmoid tanh clamp clamp_min clamp_max clip maximum minimum where softmax sigmoid_ tanh_ clamp_ clamp_min_"
OTHER_ACTIVATIONS = frozenset(
    {
        *(getattr(functional, name) for name in f"{_SMOOTH} {_PIECEWISE}".split()),
        *(getattr(owner, name) for owner in (torch, Tensor) for name in _PLAIN.split() if hasattr(owner, name)),
        *(functional.softmax, functional.scaled_dot_product_attention, functional.multi_head_attention_forward),
    }
)


@dataclass(frozen=True)
class GuidedBackprop(Explanation):
    """The gradient, passing a ReLU only where both its input and the gradient are positive."""

    name: ClassVar[str] = "guided-backprop"
    reference: ClassVar[str] = "Springenberg et al. 2015, Striving for simplicity"
    reduction: ClassVar[str] = "max_abs"

    def attribute(self, request: Request) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import ReLUGuidedBackprop

        return _backprop(request, self.name, ReLUGuidedBackprop())


@dataclass(frozen=True)
class DeconvNet(Explanation):
    """The gradient, passing a ReLU where the gradient is positive, whatever went forward."""

    name: ClassVar[str] = "deconvnet"
    reference: ClassVar[str] = "Zeiler and Fergus 2014, Visualizing and understanding convolutional networks"
    reduction: ClassVar[str] = "max_abs"

    def attribute(self, request: Request) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import ReLUDeconvNet

        return _backprop(request, self.name, ReLUDeconvNet())


def _backprop(request: Request, method: str, rule: Any) -> Tensor:
    network = _ReluNetwork(method, request.inputs.detach().requires_grad_(), rule)
    try:
        logits = network.logits(request.model)
        return torch.autograd.grad(logits, network.leaf, request.start(logits))[0]
    finally:
        network.release()


class _ReluNetwork(Rewiring):
    """A forward pass whose ReLUs go back by a rule of their own."""

    def __init__(self, method: str, leaf: Tensor, rule: Any) -> None:
        super().__init__(method, leaf)
        self._rule = rule

    def operate(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The operation itself, but for ReLUs; other activations are refused."""
        if operation in RELU:
            return self.hooked(nn.ReLU(), self._rule, args[0])
        if operation in OTHER_ACTIVATIONS:
            raise self.refuse(name_of(operation), "its rule is for ReLU networks; choose another method or network")
        return operation(*args, **kwargs)
