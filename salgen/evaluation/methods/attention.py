"""The attention of a vision transformer, from the token that the logits read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from inspect import signature
from itertools import pairwise
from typing import Any
import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.evaluation.attribution.propagation.operations import ANY_NETWORK, DROPOUT, Operation, tensors_in
from salgen.evaluation.models.inspection.grid import Grid
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.positions import ROUNDING, Positions, spans


@dataclass(frozen=True)
class Tokens:
    """The tokens of a transformer, and which of its attentions count."""

    attentions: tuple[int, ...]  # the places in the order of calls of the attentions that the logits depend on
    layers: tuple[str, ...]  # the names of the modules that they run in
    grid: Grid  # the arrangement of the patches among the tokens
    # int64 (k,): the tokens of the last attention that the logits read: class tokens if there are any, else patches
    read: Tensor

    def map_of(self, mixed: Tensor) -> Tensor:
        """The mean over the tokens that are read of each token's share in them, (n, T, T) to (n, 1, h, w)."""
        return self.grid.channels(mixed[:, self.read.to(mixed.device)].mean(dim=1)[:, :, None])


@dataclass(frozen=True)
class Attention(Method):
    """A map over patches from the attention of the token that the logits read.

    That is the class token, wherever it stands, or the mean over several. If the logits read none but pool the
    patches, it is the mean over all patches. Registers count for nothing.
    """

    family = "attention"
    signed = False
    class_dependent = False
    resolution = "the patch grid"
    defined_for = (
        "transformers of global self-attention over the same tokens in every block, such as ViT, DeiT, BEiT, EVA, "
        "DINOv2 and DINOv3"
    )

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other attention, or without any."""
        tokens_of.of(self.name, model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        tokens = tokens_of.of(self.name, context.model, context.inputs)
        attentions = context.cache.get(Tokens, lambda: _attentions(context))
        return tokens.map_of(self._mixing([attentions[number] for number in tokens.attentions]))

    def _mixing(self, attentions: list[Tensor]) -> Tensor:
        """Each token's share in each other, (n, T, T), from attentions (n, T, T) in order."""
        raise NotImplementedError


@dataclass(frozen=True)
class RawAttention(Attention):
    """The class token's attention in the last block, mean over heads.

    Where the logits read several class tokens, or pool the patches, it is the mean over these tokens.
    """

    name = "raw-attention"
    reference = "Dosovitskiy et al. 2021, An image is worth 16x16 words, doi:10.48550/arXiv.2010.11929"

    def _mixing(self, attentions: list[Tensor]) -> Tensor:
        return attentions[-1]


@dataclass(frozen=True)
class AttentionRollout(Attention):
    """Attention followed through all blocks, half of it at each going round by the residual path.

    The product over blocks of 0.5 A + 0.5 I, where A is the mean over heads and each row is divided by its sum. The map
    is the class token's row. Where the logits read several class tokens, or pool the patches, it is the mean over their
    rows.
    """

    name = "attention-rollout"
    reference = "Abnar and Zuidema 2020, Quantifying attention flow in transformers, doi:10.18653/v1/2020.acl-main.385"

    def _mixing(self, attentions: list[Tensor]) -> Tensor:
        rolled = torch.eye(attentions[0].shape[-1]).to(attentions[0])
        for attention in attentions:
            step = 0.5 * attention + 0.5 * torch.eye(attention.shape[-1]).to(attention)
            rolled = step / step.sum(dim=-1, keepdim=True) @ rolled
        return rolled


class AttentionWeights(TorchFunctionMode):
    """A forward pass whose attention weights are noted, however they are computed.

    `note` is called with weights (..., T, S), a tensor that the logits come from, and its axis of the T queries. The
    weights sum to 1 over S.
    """

    def __init__(self, note: Callable[[Tensor, Tensor, int], None]) -> None:
        super().__init__()
        self.note = note
        # results of a softmax, over the last of three axes or more, that no values were multiplied by, and its inputs
        self.pending: dict[int, tuple[Tensor, Tensor]] = {}
        self.scores: Tensor | None = None  # what the noted weights are the softmax of; None within a fused kernel

    def __torch_function__(
        self, func: Operation, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is functional.scaled_dot_product_attention:
            result, weights = torch._scaled_dot_product_attention_math(*args, **kwargs)
            self.note(weights, weights, -2)
            return result
        if func is functional.multi_head_attention_forward:
            call = signature(func).bind(*args, **kwargs)
            average = call.arguments.get("average_attn_weights", True)
            call.arguments.update(need_weights=True, average_attn_weights=False)
            result, weights = func(*call.args, **call.kwargs)
            self.note(weights, result, 0)
            return result, weights.mean(dim=1) if average else weights
        operands = list(tensors_in((args, kwargs)))[: 2 if func is torch.einsum else 1]
        shares = next((tensor for tensor in operands if id(tensor) in self.pending), None)
        scores = None if shares is None else self.pending[id(shares)][1]
        if shares is not None and func in _PASSING | _WEIGHTING:
            del self.pending[id(shares)]
        if shares is not None and func in _WEIGHTING:
            self.scores = scores
            self.note(shares, shares, -2)
        result = func(*args, **kwargs)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        softmax = func in _SOFTMAX and result.ndim > 2 and dim in (-1, result.ndim - 1)
        if softmax or (shares is not None and func in _PASSING):
            self.pending[id(result)] = result, operands[0] if softmax or scores is None else scores
        return result


_SOFTMAX = frozenset({functional.softmax, torch.softmax, Tensor.softmax})
_WEIGHTING = frozenset({torch.matmul, Tensor.matmul, torch.bmm, Tensor.bmm, torch.einsum})
_PASSING = DROPOUT | {
    *(Tensor.to, Tensor.type, Tensor.type_as, Tensor.float, Tensor.double, Tensor.half, Tensor.bfloat16),
    *(Tensor.contiguous, Tensor.clone, torch.clone, Tensor.view, Tensor.reshape, torch.reshape),
}
_ADVICE = (
    "it reads global self-attention such as that of ViT, DeiT, BEiT, EVA, DINOv2 and DINOv3, fused or written as a "
    f"softmax; choose another method or network ({ANY_NETWORK})"
)


def _attentions(context: AttributionContext) -> list[Tensor]:
    """The attention (n, T, T) of each call: rows sum to 1, mean over heads."""
    found: list[Tensor] = []

    def note(weights: Tensor, _seen: Tensor, _axis: int) -> None:
        found.append(weights.reshape(len(weights), -1, *weights.shape[-2:]).mean(dim=1))

    with torch.no_grad(), AttentionWeights(note):
        context.model.logits(context.inputs)
    return found


@dataclass(frozen=True)
class _Call:
    """One attention of one image, by its module's name; `seen` has the queries on the axis `axis`."""

    layer: str
    weights: Tensor
    seen: Tensor
    axis: int

    def by_query(self, values: Tensor) -> Tensor:
        """Values for the numbers of `seen` as (T, m)."""
        return values.expand(self.seen.shape).movedim(self.axis, 0).flatten(1)

    def patches(self, positions: Positions) -> Grid | None:
        """The arrangement of the patches among the queries; None if a query has many places, or they are no grid."""
        rows, columns = (self.by_query(part) for part in positions.of(self.seen) or (torch.full((), torch.nan),) * 2)
        if max(float(spans(part, 1).max()) for part in (rows, columns)) > ROUNDING:
            return None
        places = rows[None, :, :1], columns[None, :, :1]
        first = torch.arange(len(rows), device=rows.device)[None, :, None] == 0  # a class token made of all patches
        outside = tuple(part.masked_fill(first, torch.nan) for part in places)
        return Grid.of((1, len(rows), 1), places) or Grid.of((1, len(rows), 1), (outside[0], outside[1]))

    def flaw(self, before: _Call, grid: Grid | None) -> str:
        """The reason why no map can be made of it and the attention before it; empty if there is none."""
        shape, (queries, keys) = tuple(self.weights.shape), self.weights.shape[-2:]
        if len(shape) > 4 or shape[0] != 1:
            return f"attends within windows, or merges heads with the batch (its weights for one image are {shape})"
        if queries != keys:
            return f"attends from {queries} tokens to {keys} (pooled keys, class attention or cross-attention)"
        if grid is None:
            return "attends over channels, or its tokens are no grid of patches"
        if keys != before.weights.shape[-1]:
            return f"has {keys} tokens, but layer {before.layer!r} before it has {before.weights.shape[-1]}"
        if before is self:
            return ""
        ones = torch.ones_like(self.seen)
        (reached,) = torch.autograd.grad(self.seen, before.seen, ones, retain_graph=True, allow_unused=True)
        return "" if reached is not None else f"attends beside layer {before.layer!r}, not after it"


def _find_tokens(method: str, view: ModelView, image: Tensor) -> Tokens:
    """Run one image (1, C, h, w), following where its tokens come from and which of them the logits read."""
    calls: list[_Call] = []
    running: list[str] = []  # names of the modules that have begun and not finished

    def note(weights: Tensor, seen: Tensor, axis: int) -> None:
        calls.append(_Call(running[-1] if running else "", weights, seen, axis))

    def leave(*_: Any) -> None:
        running.pop()

    with ExitStack() as stack, torch.enable_grad():
        for name, module in view.network.named_modules():
            if not isinstance(module, torch.jit.ScriptModule):
                stack.callback(module.register_forward_pre_hook(lambda *_, name=name: running.append(name)).remove)
                stack.callback(module.register_forward_hook(leave).remove)
        positions = stack.enter_context(Positions(image.detach()))
        mode = stack.enter_context(AttentionWeights(note))
        logits = view.logits(image.detach().requires_grad_())
    seen = [call.seen for call in calls]
    start = torch.full_like(logits, torch.nan)  # reaches all that counts, whatever the weights are
    known = bool(calls) and all(tensor.requires_grad for tensor in (logits, *seen))
    gradients = torch.autograd.grad(logits, seen, start, retain_graph=True, allow_unused=True) if known else ()
    used = [number for number, gradient in enumerate(gradients) if gradient is not None]
    grids = {number: calls[number].patches(positions) for number in used}
    for before, number in pairwise((*used[:1], *used)):
        flaw = calls[number].flaw(calls[before], grids[number])
        if flaw:
            raise SalgenError(f"{method}: layer {calls[number].layer!r} {flaw}: {_ADVICE}")
    if mode.pending:
        raise SalgenError(f"{method}: weights are changed between softmax and values, as by talking heads: {_ADVICE}")
    if not used:
        raise SalgenError(f"{method}: the network has no attention by a softmax that depends on the image: {_ADVICE}")
    read = calls[used[-1]].by_query(gradients[used[-1]].isnan()).any(dim=1)
    grid, beside = grids[used[-1]], read.clone()
    assert grid is not None  # it had no flaw
    beside[... if grid.pixels is None else grid.pixels] = False
    layers = tuple(calls[number].layer for number in used)
    return Tokens(tuple(used), layers, grid, (beside if bool(beside.any()) else read).nonzero()[:, 0])


tokens_of = NetworkCache(_find_tokens)
