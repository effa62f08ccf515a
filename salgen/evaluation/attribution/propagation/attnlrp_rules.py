"""Rules of LRP for what no plain ReLU network has: smooth activations, norms, products, quotients, attention.

:data:`RULES` says what :class:`RelevanceNetwork` does with each operation. They are those of AttnLRP (Achtibat et al.
2024, AttnLRP: attention-aware layer-wise relevance propagation for transformers), but for gates. With them lrp-z is
still input times gradient, of a network in which some factors are constant: f(x)/x of an activation, the deviation of a
norm, a gate, a divisor, and one half of each product after the other.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol
import torch
from torch import Tensor
from torch.nn import functional
from salgen.evaluation.attribution.propagation.operations import (
    DIVISIONS,
    Operation,
    attention_by_head,
    name_of,
    tensors_in,
)

Function = Callable[[Tensor], Tensor]
Rule = Callable[..., Any]  # called with the network, the operation and its arguments


class _Network(Protocol):
    """What rules are made of: functions of one signal, with a rule for the way back. `RelevanceNetwork` has them."""

    gates: set[int]

    def keep(self, function: Function, signal: Tensor) -> Tensor: ...
    def share(self, function: Function, signal: Tensor) -> Tensor: ...
    def weigh(self, softmax: Function, scores: Tensor) -> Tensor: ...
    def scale(self, signal: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor: ...
    def linear(self, signal: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor: ...
    def add(self, input: Any, other: Any) -> Tensor: ...
    def refuse(self, operation: str, advice: str) -> Exception: ...


SIGMOIDS: frozenset[Operation] = frozenset({torch.sigmoid, Tensor.sigmoid, functional.sigmoid, functional.hardsigmoid})
LENGTHS: frozenset[Operation] = frozenset(
    {torch.norm, Tensor.norm, torch.linalg.norm, torch.linalg.vector_norm, torch.std, Tensor.std}
)
INVERSES: frozenset[Operation] = frozenset(
    {torch.rsqrt, Tensor.rsqrt, torch.reciprocal, Tensor.reciprocal, Tensor.__rdiv__}
)
GATES = SIGMOIDS | LENGTHS | INVERSES

_ADVICE = "choose another network, or a method that takes any: gradient, integrated-gradients, occlusion or rise"


def _kept(network: _Network, operation: Operation, *args: Any, **kwargs: Any) -> Tensor:
    signal, *options = _only_signal(network, operation, args, kwargs)
    new = {**kwargs, "inplace": False} if kwargs.get("inplace") else kwargs
    return network.keep(lambda t: operation(t, *options, **new), signal)


def _softmax(network: _Network, operation: Operation, *args: Any, **kwargs: Any) -> Tensor:
    signal, *options = _only_signal(network, operation, args, kwargs)
    return network.weigh(lambda t: operation(t, *options, **kwargs), signal)


def _shared(network: _Network, operation: Operation, *args: Any, **kwargs: Any) -> Tensor:
    signal, *options = _only_signal(network, operation, args, kwargs)
    return network.share(lambda t: operation(t, *options, **kwargs), signal)


def _only_signal(network: _Network, operation: Operation, args: Sequence[Any], kwargs: Any) -> Sequence[Any]:
    """The arguments, if the first alone is a signal."""
    if not args or any(tensor.requires_grad for tensor in tensors_in((args[1:], kwargs))):
        raise network.refuse(f"{name_of(operation)} of several signals", _ADVICE)
    return args


def _difference(network: _Network, operation: Operation, input: Any, other: Any, alpha: float = 1) -> Tensor:
    """A sum with a negative term."""
    first, second = (other, input) if operation in (torch.rsub, Tensor.__rsub__) else (input, other)
    if alpha != 1:
        raise network.refuse("a difference with alpha", "multiply the term in the model")
    signal = isinstance(second, Tensor) and second.requires_grad
    return network.add(first, network.keep(torch.neg, second) if signal else -second)


def _scaled_sum(
    network: _Network, _operation: Operation, input: Tensor, tensor1: Tensor, tensor2: Tensor, value: float = 1
) -> Tensor:
    """A sum with a product (`addcmul`)."""
    if not (tensor1.requires_grad or tensor2.requires_grad):
        return network.add(input, value * tensor1 * tensor2)
    product = _product(network, torch.mul, tensor1, tensor2)
    return network.add(input, network.keep(lambda t: value * t, product))


def _winner(_network: _Network, operation: Operation, *args: Any, **kwargs: Any) -> Any:
    """The first of the largest values takes all, or of the smallest, as in a max pool."""
    result = operation(*args, **kwargs)
    if not isinstance(result, Tensor):
        return result  # a maximum over one axis, with its positions
    tensors = list(tensors_in((args, kwargs)))
    signal, dims = tensors[0], kwargs.get("dim", args[1] if len(args) > 1 else ())
    if len(tensors) == 2:
        same_shape: list[Tensor] = torch.broadcast_tensors(*tensors)  # type: ignore[no-untyped-call]
        signal, dims = torch.stack(same_shape, dim=-1), -1
    dims = [dims] if isinstance(dims, int) else list(dims) or list(range(signal.ndim))
    last = signal.movedim(dims, list(range(-len(dims), 0))).flatten(-len(dims))
    place = last.argmin(dim=-1) if "min" in name_of(operation) else last.argmax(dim=-1)
    return last.gather(-1, place[..., None]).reshape(result.shape)


def _product(network: _Network, _operation: Operation, input: Any, other: Any) -> Tensor:
    """Half of it to each factor, or all to the signal if the other is constant or a gate.

    Halves are AttnLRP's uniform rule (proposition 3.2). A gate, from a sigmoid, takes nothing (Arras et al. 2017; Pahde
    et al. 2023 for squeeze-and-excitation).
    """
    factors = [torch.as_tensor(factor) for factor in (input, other)]
    first, second = torch.broadcast_tensors(*factors)  # type: ignore[no-untyped-call]
    takes = [first.requires_grad, second.requires_grad]
    gates = [id(factor) in network.gates for factor in factors]
    if all(takes) and gates[0] != gates[1]:
        takes = [not gate for gate in gates]
    sides = []
    if takes[0]:
        sides.append(network.keep(lambda t: t * second.detach(), first))
    if takes[1]:
        sides.append(network.keep(lambda t: first.detach() * t, second))
    return _mean(sides)


def _quotient(
    network: _Network, _operation: Operation, input: Any, other: Any, rounding_mode: str | None = None
) -> Tensor:
    """All of it to the dividend: a divisor is constant, as the deviation of a norm is (AttnLRP, proposition 3.4)."""
    signal, divisor = torch.as_tensor(input), torch.as_tensor(other)
    if rounding_mode is not None:
        raise network.refuse("division that rounds", _ADVICE)
    if not signal.requires_grad:
        return network.keep(lambda t: signal / t, divisor.expand((signal + divisor).shape))
    return _product(network, torch.mul, signal, 1 / divisor.detach())


def _variance(network: _Network, _operation: Operation, *args: Any, **kwargs: Any) -> Tensor:
    """The square of the deviation."""
    return network.keep(torch.square, _shared(network, torch.std, *args, **kwargs))


def _bilinear(network: _Network, operation: Operation, *args: Any, **kwargs: Any) -> Tensor:
    """Half of it to each factor, in proportion (AttnLRP, proposition 3.3); all of it to the only signal."""
    equation = [part for part in args if isinstance(part, str)]  # einsum's equation
    factors = list(tensors_in((args, kwargs)))
    if len(factors) != 2:
        raise network.refuse(f"{name_of(operation)} of {len(factors)} tensors", _ADVICE)
    first, second = factors
    sides = []
    if first.requires_grad:
        sides.append(network.share(lambda t: operation(*equation, t, second.detach()), first))
    if second.requires_grad:
        sides.append(network.share(lambda t: operation(*equation, first.detach(), t), second))
    return _mean(sides)


def _mean(sides: list[Tensor]) -> Tensor:
    """One or two equal results, each of which takes its part of the relevance."""
    return sides[0] if len(sides) == 1 else 0.5 * (sides[0] + sides[1])


def _layer_norm(
    network: _Network, _operation: Operation, input: Tensor, normalized_shape: Sequence[int],
    weight: Any = None, bias: Any = None, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    return _normed(network, input, input.shape, tuple(range(-len(normalized_shape), 0)), weight, bias, eps)


def _rms_norm(
    network: _Network, _operation: Operation, input: Tensor, normalized_shape: Sequence[int],
    weight: Any = None, eps: float | None = None,
) -> Tensor:  # fmt: skip
    """The root of the mean square is constant, as a deviation is."""
    axes = tuple(range(-len(normalized_shape), 0))
    least = torch.finfo(input.dtype).eps if eps is None else eps
    inverse = (input.detach().square().mean(dim=axes, keepdim=True) + least).rsqrt().expand_as(input)
    return network.scale(input, inverse if weight is None else inverse * weight, None)


def _group_norm(
    network: _Network, _operation: Operation, input: Tensor, num_groups: int,
    weight: Any = None, bias: Any = None, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    grouped = (len(input), num_groups, -1, *input.shape[2:])
    weight, bias = (None if v is None else v.view(-1, *[1] * (input.ndim - 2)) for v in (weight, bias))
    return _normed(network, input, grouped, tuple(range(2, len(grouped))), weight, bias, eps)


def _normed(
    network: _Network, signal: Tensor, shape: Sequence[int], axes: tuple[int, ...],
    weight: Any, bias: Any, eps: float,
) -> Tensor:  # fmt: skip
    """Over some axes of the signal in that shape: centring shares relevance in proportion, the deviation is constant.

    This is the LN-rule of Ali et al. 2022 (XAI for transformers: better explanations through conservative propagation)
    and AttnLRP's (proposition 3.4 for the deviation, the epsilon rule for the mean).
    """

    def centre(values: Tensor) -> Tensor:
        values = values.reshape(shape)
        return (values - values.mean(dim=axes, keepdim=True)).reshape(signal.shape)

    centred = network.share(centre, signal)
    groups = centred.detach().reshape(shape)
    inverse = (groups.square().mean(dim=axes, keepdim=True) + eps).rsqrt().expand_as(groups).reshape(signal.shape)
    return network.scale(centred, inverse if weight is None else inverse * weight, bias)


def _attention(
    network: _Network, _operation: Operation, query: Tensor, key: Tensor, value: Tensor,
    attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    if dropout_p or is_causal or enable_gqa:
        raise network.refuse("attention with dropout, a causal mask or grouped queries", _ADVICE)
    return _bilinear(network, torch.matmul, _weights(network, query, key, attn_mask, scale), value)


def _weights(network: _Network, query: Tensor, key: Tensor, mask: Tensor | None, scale: float | None) -> Tensor:
    """Attention weights (..., T, S) from queries (..., T, d) and keys (..., S, d); a mask is constant there."""
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.zeros(mask.shape).to(query).masked_fill(~mask, -torch.inf)
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = _bilinear(network, torch.matmul, query, key.transpose(-2, -1))
    scaled = network.keep(lambda t: t * factor, scores)
    return network.weigh(lambda t: torch.softmax(t if mask is None else t + mask, dim=-1), scaled)


def _multi_head_attention(
    network: _Network, _operation: Operation, *args: Any, **kwargs: Any
) -> tuple[Tensor, Tensor | None]:
    def attend(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        shares = _weights(network, query, key, None, None)
        return _bilinear(network, torch.matmul, shares, value), shares

    def refuse(what: str) -> Exception:
        return network.refuse(f"attention with {what}", _ADVICE)

    return attention_by_head(network.linear, attend, refuse, args, kwargs)


ACTIVATIONS: frozenset[Operation] = SIGMOIDS | {
    *(functional.silu, functional.gelu, functional.hardswish, functional.mish, functional.elu, functional.selu),
    *(functional.leaky_relu, functional.softplus, functional.tanh, torch.tanh, Tensor.tanh, functional.prelu),
    *(functional.celu, functional.softsign, functional.hardtanh, functional.hardtanh_, functional.threshold),
    *(torch.clamp, Tensor.clamp, Tensor.clamp_, torch.clip, Tensor.clip, torch.clamp_min, Tensor.clamp_min),
    *(torch.abs, Tensor.abs, torch.exp, Tensor.exp, torch.sqrt, Tensor.sqrt, torch.square, Tensor.square),
    *(torch.pow, Tensor.pow, Tensor.__pow__, Tensor.__rpow__, torch.neg, Tensor.neg, torch.negative, Tensor.negative),
}
RULES: dict[Operation, Rule] = {
    # AttnLRP, equation 9: the identity rule of what acts on each value alone
    **dict.fromkeys(ACTIVATIONS | INVERSES, _kept),
    # AttnLRP, proposition 3.4: a division by the signal's own length
    **dict.fromkeys({functional.normalize, functional.local_response_norm}, _kept),
    # linear, or a length, whose values times gradient add up to it
    **dict.fromkeys(LENGTHS | {functional.interpolate, functional.fold, torch.cumsum, Tensor.cumsum}, _shared),
    **dict.fromkeys({torch.sub, Tensor.sub, Tensor.sub_, torch.subtract, Tensor.subtract}, _difference),
    **dict.fromkeys({torch.rsub, Tensor.__rsub__}, _difference),
    **dict.fromkeys({torch.addcmul, Tensor.addcmul}, _scaled_sum),
    **dict.fromkeys({torch.amax, Tensor.amax, torch.amin, Tensor.amin, torch.maximum, Tensor.maximum}, _winner),
    **dict.fromkeys({torch.max, Tensor.max, torch.min, Tensor.min, torch.minimum, Tensor.minimum}, _winner),
    # AttnLRP, proposition 3.1: R(x) = x (R - s sum R), the Taylor expansion at x, is value times gradient of R / s.
    # What its constant term has is lost: here relevance is not conserved.
    **dict.fromkeys({functional.softmax, torch.softmax, Tensor.softmax}, _softmax),
    **dict.fromkeys({torch.mul, Tensor.mul, Tensor.mul_, torch.multiply, Tensor.multiply}, _product),
    **dict.fromkeys(DIVISIONS, _quotient),
    **dict.fromkeys({torch.matmul, Tensor.matmul, torch.bmm, Tensor.bmm, torch.einsum}, _bilinear),
    **dict.fromkeys({torch.var, Tensor.var}, _variance),
    functional.layer_norm: _layer_norm,
    functional.rms_norm: _rms_norm,
    functional.group_norm: _group_norm,
    functional.scaled_dot_product_attention: _attention,
    functional.multi_head_attention_forward: _multi_head_attention,
}
