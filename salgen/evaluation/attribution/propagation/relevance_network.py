"""Layer-wise relevance propagation over operations, with zennit's rules.

Linear maps take the rule that a method chooses, and a batch norm is merged into the one before it or is one; sums and
averages share relevance in proportion; a max pool gives it to the winner; a ReLU and whatever moves values pass it on.
LRP has rules for more, in `attnlrp_rules`; all else is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
import torch
from torch import Tensor, nn
from torch.nn import functional
from salgen.errors import SalgenError
from salgen.evaluation.attribution.propagation import operations as ops
from salgen.evaluation.attribution.propagation.attnlrp_rules import GATES, RULES, Function
from salgen.evaluation.attribution.propagation.input_bounds import Bounds, follow_bounds

if TYPE_CHECKING:
    from zennit.core import BasicHook

KNOWN = ops.LINEAR | ops.DROPOUT | ops.RELU | ops.CLIP | ops.AVERAGE | ops.ADD | ops.SCALE | ops.WINNER
KNOWN |= {functional.batch_norm}
ADVICE = (
    f"lrp-z and lrp-alpha-beta know {ops.names_of(KNOWN | RULES.keys())}, and what moves values; "
    f"choose another method or network ({ops.ANY_NETWORK})"
)
ADDED_CONSTANT = "adding a constant"

LINEAR_ARGUMENTS = ("input", "weight", "bias", "stride", "padding", "dilation", "groups")  # as in every convolution
NOT_FOLLOWED = ops.LINEAR | {functional.batch_norm}  # after these, or a ReLU, a signal is no longer the input


def lrp_only_error(method: str, operation: str) -> SalgenError:
    """The refusal of a network with an operation that only LRP has a rule for."""
    advice = (
        f"it knows {ops.names_of(KNOWN)}, and what moves values; choose another method or network "
        f"(lrp-z, lrp-alpha-beta, {ops.ANY_NETWORK})"
    )
    if operation == ADDED_CONSTANT:
        advice = "put normalisation into Classifier(network, normalise), or choose lrp-z or lrp-alpha-beta"
    return SalgenError(f"{method} has no rule for {operation}: {advice}")


@dataclass(frozen=True)
class Affine:
    """A linear operation as it was called."""

    operation: Callable[..., Tensor]
    signal: Tensor
    weight: Tensor
    bias: Tensor | None
    position: int  # its place in the order of calls, from 0; -1 for the scaling of a norm, which methods do not look up
    # if the operation takes the network's own input, perhaps moved, scaled, pooled or added up: a function from
    # bounds of the network's input to bounds of the operation's. It raises a SalgenError where they are not known.
    from_input: Bounds | None = None
    # whether it only scales and shifts each value, as a batch norm does with no linear map before it
    elementwise: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)  # its other arguments, such as a stride

    def call(self, signal: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The operation on other tensors."""
        return self.operation(signal, weight, bias, **self.options)


@dataclass(frozen=True)
class Rules:
    """The zennit rule of a backward pass for each kind of operation; None is the plain gradient."""

    linear: Callable[[Affine], BasicHook | None]  # the rule for a given linear operation
    # for activations, for scaling by a constant, and for products
    passing: BasicHook | None = field(default_factory=lambda: _rule("Pass"))
    # for sums and averages, and for what LRP treats alike
    sharing: BasicHook | None = field(default_factory=lambda: _rule("Norm"))


def _rule(name: str) -> BasicHook:
    """A rule of zennit, which takes long to import."""
    from zennit import rules

    return getattr(rules, name)()


class RelevanceNetwork(ops.Rewiring):
    """A forward pass whose backward pass propagates relevance."""

    def __init__(self, method: str, leaf: Tensor) -> None:
        super().__init__(method, leaf)
        self.linear_maps = 0  # number of linear operations that were called
        # dotted names of the modules that had finished, in that order, when the last of them began that is not
        # elementwise
        self.before_last_map: tuple[str, ...] = ()
        self.clipped = False  # whether a ReLU with a ceiling was called, such as ReLU6
        self.lrp_only = ""  # the first operation that only LRP has a rule for; empty if there was none
        # ids of the tensors that take nothing as factors: what `GATES` gave, moved or not, and its quotients
        self.gates: set[int] = set()
        # each linear operation by its position, with the batch norm that was merged into it
        self.calls: dict[int, Affine] = {}
        self._rules = Rules(linear=lambda _: None)
        self._affine: dict[int, Affine] = {}
        self._bounds: dict[int, Bounds] = {id(leaf): lambda box: box}

    def propagate(self, rules: Rules, source: Tensor, relevance: Tensor, target: Tensor) -> Tensor:
        """The relevance at `target` that `relevance` at `source` gives: two of `output`, `outputs` and `leaf`."""
        self._rules = rules
        (reached,) = torch.autograd.grad(source, target, relevance, retain_graph=True, allow_unused=True)
        return torch.zeros_like(target) if reached is None else reached

    def connects(self, source: Tensor, target: Tensor) -> bool:
        """True if relevance at `source` reaches `target`, tensors as in :meth:`propagate`."""
        zeros = torch.zeros_like(source)
        (reached,) = torch.autograd.grad(source, target, zeros, retain_graph=True, allow_unused=True)
        return reached is not None

    def operate(self, operation: ops.Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The operation with its rule."""
        result = self._with_rule(operation, args, kwargs)
        affine = self._affine.get(id(result))
        if affine is not None and affine.elementwise:
            follow_bounds(self._bounds, affine.call, (affine.signal, affine.weight, affine.bias), {}, result)
        elif not self.lrp_only and operation not in NOT_FOLLOWED and ops.rectifier(operation, args, kwargs) is None:
            follow_bounds(self._bounds, operation, args, kwargs, result)
        of_gates = all(id(tensor) in self.gates for tensor in ops.tensors_in(args[:1] or kwargs))
        moved = operation in ops.MOVE | ops.DIVISIONS and of_gates
        exponent = kwargs.get("exponent", args[1] if len(args) > 1 else None)
        inverse = ops.name_of(operation) == "pow" and isinstance(exponent, (int, float)) and exponent < 0
        if operation in GATES or moved or inverse:
            self.gates.update(map(id, ops.tensors_in(result)))
        return result

    def keep(self, function: Function, signal: Tensor) -> Tensor:
        """Each value takes the relevance of the value that the function makes of it."""
        return self.run(_Applied(function), lambda: self._rules.passing, signal)

    def share(self, function: Function, signal: Tensor) -> Tensor:
        """Relevance in proportion to value times gradient, which are the contributions to a linear function."""
        return self.run(_Applied(function), lambda: self._rules.sharing, signal)

    def weigh(self, softmax: Function, scores: Tensor) -> Tensor:
        """Attention weights, or another softmax of scores."""
        return self.share(softmax, scores)

    def scale(self, signal: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Each value times its weight plus its bias, by the rule of a batch norm with no linear map before it."""
        scaling = Affine(_scale_values, signal, weight, bias, position=-1, elementwise=True)
        return self.run(_Parametrised(scaling), lambda: self._rules.linear(scaling), signal)

    def linear(self, signal: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """``functional.linear`` with the method's rule."""
        output = self._linear(functional.linear, (signal, weight, bias), {})
        self._seen[id(output)] = output  # its id stands for a linear map
        return output

    def _with_rule(self, operation: ops.Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if operation in ops.LINEAR:
            return self._linear(operation, args, kwargs)
        if operation is functional.batch_norm:
            return self._batch_norm(*args, **kwargs)
        relu = ops.rectifier(operation, args, kwargs)
        if relu is not None:
            self.clipped |= isinstance(relu, nn.Hardtanh)
            return self.run(relu, lambda: self._rules.passing, args[0])
        if operation in ops.DROPOUT:
            if kwargs.get("training", True):
                raise self.refuse("dropout that stays on", "pass training=self.training to it in the model")
            return args[0]
        if operation in ops.AVERAGE:
            return self.share(lambda t: operation(t, *args[1:], **kwargs), args[0])
        if operation in ops.ADD:
            return self.add(*args, **kwargs)
        if operation in ops.SCALE and len(args) == 2 and not kwargs and isinstance(args[1], (int, float)):
            return self.keep(lambda t: operation(t, args[1]), args[0])
        if operation in RULES:
            self.lrp_only = self.lrp_only or ops.name_of(operation)
            return RULES[operation](self, operation, *args, **kwargs)
        result = operation(*args, **kwargs)
        if operation not in ops.WINNER | ops.MOVE and any(tensor.requires_grad for tensor in ops.tensors_in(result)):
            raise self.refuse(ops.name_of(operation), ADVICE)
        return result

    def _linear(self, operation: ops.Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor:
        arguments = {**dict(zip(LINEAR_ARGUMENTS, args, strict=False)), **kwargs}
        signal, weight, bias = arguments.pop("input"), arguments.pop("weight"), arguments.pop("bias", None)
        if weight.requires_grad:
            raise self.refuse(f"{ops.name_of(operation)} with weights that depend on the image", ADVICE)
        bias = None if bias is None else bias.to(signal.dtype)
        return self._apply(self._next(operation, signal, weight.to(signal.dtype), bias, options=arguments))

    def _batch_norm(
        self,
        input: Tensor,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        training: bool = False,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Tensor:
        """Merged into the linear map before it, or a linear map of its own."""
        if training or running_mean is None or running_var is None:
            raise self.refuse("batch norm by the batch's own statistics", "use track_running_stats=True")
        mean, variance = running_mean.to(input.dtype), running_var.to(input.dtype)
        scale = (variance + eps).rsqrt() * (1 if weight is None else weight)
        shift = (0 if bias is None else bias) - mean * scale
        before = self._affine.get(id(input))
        if before is None:
            return self._apply(self._next(_scale_channels, input, scale, shift, elementwise=True))
        merged_weight = before.weight * scale.view(-1, *[1] * (before.weight.ndim - 1))
        merged_bias = shift if before.bias is None else before.bias * scale + shift
        return self._apply(replace(before, weight=merged_weight, bias=merged_bias))

    def _next(
        self, operation: ops.Operation, signal: Tensor, weight: Tensor, bias: Tensor | None, **others: Any
    ) -> Affine:
        """The next linear operation in the order of calls."""
        affine = Affine(operation, signal, weight, bias, self.linear_maps, self._bounds.get(id(signal)), **others)
        self.linear_maps += 1
        if not affine.elementwise:
            self.before_last_map = tuple(self.outputs)
        return affine

    def _apply(self, affine: Affine) -> Tensor:
        self.calls[affine.position] = affine
        output = self.run(_Parametrised(affine), lambda: self._rules.linear(affine), affine.signal)
        if affine.elementwise or output.ndim == affine.weight.ndim:  # channels stand where a batch norm has them
            self._affine[id(output)] = affine
        return output

    def add(self, input: Any, other: Any, *, alpha: float = 1) -> Tensor:
        """A sum shares relevance in proportion to its terms."""
        terms = [term for term in (input, other) if not (isinstance(term, (int, float)) and term == 0)]
        if alpha != 1:
            raise self.refuse("a sum with alpha", "multiply the term in the model")
        if len(terms) == 1:
            return torch.clone(terms[0])
        if not all(isinstance(term, Tensor) for term in terms):
            self.lrp_only = self.lrp_only or ADDED_CONSTANT
            signal, constant = (input, other) if isinstance(input, Tensor) else (other, input)
            return self.scale(signal, torch.ones(()).to(signal), torch.tensor(constant).to(signal))
        same_shape: list[Tensor] = torch.broadcast_tensors(*terms)  # type: ignore[no-untyped-call]
        return self.share(lambda t: t.sum(dim=-1), torch.stack(same_shape, dim=-1))


class _Parametrised(nn.Module):
    """One call of a linear operation as a module, which is what zennit's rules take."""

    def __init__(self, affine: Affine) -> None:
        super().__init__()
        self.call = affine.call
        self.weight = nn.Parameter(affine.weight.detach(), requires_grad=False)
        self.bias = None if affine.bias is None else nn.Parameter(affine.bias.detach(), requires_grad=False)

    def forward(self, signal: Tensor) -> Tensor:
        return self.call(signal, self.weight, self.bias)


class _Applied(nn.Module):
    """A function as a module."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, signal: Tensor) -> Tensor:
        return self.function(signal)


def _scale_channels(signal: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    shape = (1, -1, *[1] * (signal.ndim - 2))
    return signal * weight.view(shape) + (0 if bias is None else bias.view(shape))


def _scale_values(signal: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return signal * weight + (0 if bias is None else bias)
