"""Guided backpropagation and DeconvNet: the gradient with another rule at every ReLU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from salgen.evaluation.attribution.attribution_context import AttributionContext, Explanation
from salgen.evaluation.attribution.propagation.affine_parts import FILLED, READS, is_affine
from salgen.evaluation.attribution.propagation.operations import (
    ANY_NETWORK,
    DROPOUT,
    WINNER,
    Operation,
    Rewiring,
    name_of,
    rectifier,
    tensors_in,
)
from salgen.evaluation.models.inspection.gradient_check import check_gradient
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache

NAMES = ("guided-backprop", "deconvnet")

ADVICE = (
    "its rule is for networks of ReLU and affine operations, and elsewhere it would be the gradient; choose another "
    f"method or network ({ANY_NETWORK})"
)


@dataclass(frozen=True)
class ModifiedBackprop(Explanation):
    """The gradient with another rule at every ReLU."""

    name: ClassVar[str]
    reduction: ClassVar[str] = "max_abs"
    defined_for: ClassVar[str] = "networks whose only activation is ReLU, or ReLU6"

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other activations, products and the like."""
        check_relu_network(self.name, model, image)


@dataclass(frozen=True)
class GuidedBackprop(ModifiedBackprop):
    """The gradient, passing a ReLU only where both its input and the gradient are positive.

    A ReLU6 passes nothing above its ceiling either, as in the gradient itself.
    """

    name: ClassVar[str] = "guided-backprop"
    reference: ClassVar[str] = "Springenberg et al. 2015, Striving for simplicity"

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        return guided_gradient(context)


@dataclass(frozen=True)
class DeconvNet(ModifiedBackprop):
    """The gradient, passing a ReLU where the gradient is positive, whatever went forward."""

    name: ClassVar[str] = "deconvnet"
    reference: ClassVar[str] = "Zeiler and Fergus 2014, Visualizing and understanding convolutional networks"

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import ReLUDeconvNet

        return _network(context, self.name).gradient(ReLUDeconvNet(), context)


def guided_gradient(context: AttributionContext) -> Tensor:
    """Guided backpropagation, signed (n, C, h, w), computed once for all methods that use it."""
    from zennit.rules import ReLUGuidedBackprop

    name = GuidedBackprop.name
    return context.cache.get(name, lambda: _network(context, name).gradient(ReLUGuidedBackprop(), context))


def _network(context: AttributionContext, method: str) -> ReluNetwork:
    return context.cache.get(
        ReluNetwork, lambda: ReluNetwork.forward(method, context.model, context.inputs, context.passes.logits)
    )


def check_relu_network(method: str, view: ModelView, image: Tensor) -> None:
    """Refuse networks that hold anything but ReLU, max pools and affine operations, in the name of `method`."""
    _checked.of(method, view, image)
    check_gradient(method, view, image)


class ReluNetwork(Rewiring):
    """A forward pass whose ReLUs go back by a rule that is chosen for each backward pass."""

    def __init__(self, method: str, leaf: Tensor) -> None:
        super().__init__(method, leaf)
        self._rule: Any = None
        self._logits = leaf

    @classmethod
    def forward(
        cls, method: str, view: ModelView, inputs: Tensor, expected: Callable[[], Tensor] | None = None
    ) -> ReluNetwork:
        """The network after its forward pass; `expected` gives the logits that it must have."""
        network = cls(method, inputs.detach().requires_grad_())
        network._logits = network.logits(view, expected)
        return network

    def gradient(self, rule: Any, context: AttributionContext) -> Tensor:
        """The score's gradient at the input, (n, C, h, w), by a zennit rule at every ReLU."""
        self._rule = rule
        return torch.autograd.grad(self._logits, self.leaf, context.start(self._logits), retain_graph=True)[0]

    def operate(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The operation itself, but for ReLUs; others that are neither affine nor max pools are refused."""
        relu = rectifier(operation, args, kwargs)
        if relu is not None:
            return self.run(relu, lambda: self._rule, args[0])
        if operation in DROPOUT and kwargs.get("training", True):
            raise self.refuse("dropout that stays on", "pass training=self.training to it in the model")
        result = operation(*args, **kwargs)
        gives_tensors = any(True for _ in tensors_in(result))
        if (
            (gives_tensors or operation in READS)
            and operation not in WINNER | FILLED
            and not is_affine(operation, args, kwargs)
        ):
            raise self.refuse(name_of(operation), ADVICE)
        return result


def _check(method: str, view: ModelView, image: Tensor) -> None:
    ReluNetwork.forward(method, view, image).release()


_checked = NetworkCache(_check)
