"""Guided backpropagation and DeconvNet: the gradient with another rule at every ReLU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from salgen.evaluation.methods.declarations import Explanation
from salgen.evaluation.model_view import ModelView
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
class ModifiedBackprop(Explanation):
    """The gradient with another rule at every ReLU."""

    name: ClassVar[str]
    reduction: ClassVar[str] = "max_abs"
    defined_for: ClassVar[str] = "networks whose only activation is ReLU"

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other activations."""
        ReluNetwork.forward(self.name, model, image).release()


@dataclass(frozen=True)
class GuidedBackprop(ModifiedBackprop):
    """The gradient, passing a ReLU only where both its input and the gradient are positive."""

    name: ClassVar[str] = "guided-backprop"
    reference: ClassVar[str] = "Springenberg et al. 2015, Striving for simplicity"

    def attribute(self, request: Request) -> Tensor:
        """Signed (n, C, h, w)."""
        return guided_gradient(request)


@dataclass(frozen=True)
class DeconvNet(ModifiedBackprop):
    """The gradient, passing a ReLU where the gradient is positive, whatever went forward."""

    name: ClassVar[str] = "deconvnet"
    reference: ClassVar[str] = "Zeiler and Fergus 2014, Visualizing and understanding convolutional networks"

    def attribute(self, request: Request) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import ReLUDeconvNet

        return _network(request, self.name).gradient(ReLUDeconvNet(), request)


def guided_gradient(request: Request) -> Tensor:
    """Guided backpropagation, signed (n, C, h, w), computed once for all methods that use it."""
    from zennit.rules import ReLUGuidedBackprop

    name = GuidedBackprop.name
    return request.once.get(name, lambda: _network(request, name).gradient(ReLUGuidedBackprop(), request))


def _network(request: Request, method: str) -> ReluNetwork:
    return request.once.get(ReluNetwork, lambda: ReluNetwork.forward(method, request.model, request.inputs))


class ReluNetwork(Rewiring):
    """A forward pass whose ReLUs go back by a rule that is chosen for each backward pass."""

    def __init__(self, method: str, leaf: Tensor) -> None:
        super().__init__(method, leaf)
        self._rule: Any = None
        self._logits = leaf

    @classmethod
    def forward(cls, method: str, view: ModelView, inputs: Tensor) -> ReluNetwork:
        """The network after its forward pass."""
        network = cls(method, inputs.detach().requires_grad_())
        network._logits = network.logits(view)
        return network

    def gradient(self, rule: Any, request: Request) -> Tensor:
        """The score's gradient at the input, (n, C, h, w), by a zennit rule at every ReLU."""
        self._rule = rule
        return torch.autograd.grad(self._logits, self.leaf, request.start(self._logits), retain_graph=True)[0]

    def operate(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The operation itself, but for ReLUs; other activations are refused."""
        if operation in RELU:
            return self.run(nn.ReLU(), lambda: self._rule, args[0])
        if operation in OTHER_ACTIVATIONS:
            raise self.refuse(name_of(operation), "its rule is for ReLU networks; choose another method or network")
        return operation(*args, **kwargs)
