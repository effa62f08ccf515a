"""Attention of a vision transformer with the score's gradient: generic attention, AG-CAM and LeGrad."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
import torch
from torch import Tensor, nn
from torch.nn import functional
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.propagation.operations import Operation, attention_by_head
from salgen.evaluation.methods.attention import Attention, AttentionWeights, Tokens, tokens_of
from salgen.evaluation.models.inspection.layers import find_layer
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace, hooked


@dataclass(frozen=True)
class AttentionGradient(Attention):
    """A map over patches from attention and the score's gradient at it.

    The rows that count are those of the tokens that the logits read, as in `raw-attention`.
    """

    class_dependent = True
    reads_gradients = True
    in_all = False

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other attention, or with masks."""
        super().check(model, image)
        with torch.no_grad(), Heads(self.name):
            model.logits(image)


@dataclass(frozen=True)
class GenericAttention(AttentionGradient):
    """Attention times its gradient, rectified and averaged over heads, followed through all blocks.

    From R = I on, each block adds its matrix times R. It costs one forward and one backward pass.
    """

    name = "generic-attention"
    reference = (
        "Chefer et al. 2021b, Generic attention-model explainability for interpreting bi-modal and encoder-decoder "
        "transformers, doi:10.48550/arXiv.2103.15679"
    )

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        tokens, heads = heads_of(self.name, context)
        rolled = torch.eye(heads[0].weights.shape[-1]).to(heads[0].weights)
        for one in heads:
            rolled = rolled + (one.gradient * one.weights).clamp(min=0).mean(dim=1) @ rolled
        return tokens.map_of(rolled)


@dataclass(frozen=True)
class AgCam(AttentionGradient):
    """The attention's rectified gradient times the sigmoid of its scores before the softmax, over blocks and heads.

    It costs one forward and one backward pass.
    """

    name = "ag-cam"
    reference = (
        "Leem and Seo 2024, Attention guided CAM: visual explanations of vision transformer guided by self-attention, "
        "doi:10.48550/arXiv.2402.04563"
    )

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        tokens, heads = heads_of(self.name, context)
        return tokens.map_of(
            torch.stack([one.scores.sigmoid() * one.gradient.clamp(min=0) for one in heads]).sum(dim=(0, 2))
        )


@dataclass(frozen=True)
class LeGrad(AttentionGradient):
    """The rectified gradient at each block's attention of the score that the block alone gives.

    For this score the blocks after it are left out: its output goes where the last block's goes. The gradients are
    averaged over blocks, heads and all tokens that attend. It costs a forward and a backward pass for each block.
    """

    name = "legrad"
    cost = "1 per block"
    reference = (
        "Bousselham et al. 2024, LeGrad: an explainability method for vision transformers via feature formation "
        "sensitivity, doi:10.48550/arXiv.2404.03214"
    )
    shares = None

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks whose blocks cannot be told, or give something else than one tensor."""
        super().check(model, image)
        outputs = NetworkTrace.of(model, image).outputs
        blocks = _blocks(tokens_of.of(self.name, model, image))
        shapes = {outputs.get(name) for name in blocks}
        if len(shapes) > 1 or (len(blocks) > 1 and any(not isinstance(shape, tuple) for shape in shapes)):
            raise SalgenError(
                f"{self.name} leaves out blocks, and finds none that each hold one attention and give one tensor of "
                "the same shape: choose generic-attention or ag-cam"
            )

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        tokens = tokens_of.of(self.name, context.model, context.inputs)
        blocks, outputs = _blocks(tokens), dict[str, Tensor]()

        def keep(name: str, _module: nn.Module, _inputs: Any, output: Tensor) -> None:
            outputs[name] = output

        hooks = [(find_layer(context.model, name), partial(keep, name)) for name in blocks]
        with torch.enable_grad(), hooked(hooks), Heads(self.name) as mode:
            logits = context.model.logits(context.inputs.detach().requires_grad_())
        total = torch.zeros((), device=context.inputs.device)
        for name, number in zip(reversed(blocks), reversed(tokens.attentions), strict=True):
            if name != blocks[-1]:
                last = find_layer(context.model, blocks[-1])
                with torch.enable_grad(), hooked([(last, lambda *_, given=outputs[name]: given)]):
                    logits = context.model.logits(context.inputs)
            score = (logits * context.start(logits)).sum()
            (gradient,) = torch.autograd.grad(score, mode.weights[number], retain_graph=True)
            total = total + _by_head(gradient, len(logits)).clamp(min=0).mean(dim=(1, 2))
        return tokens.grid.channels((total / len(blocks))[:, :, None])


@dataclass(frozen=True)
class Head:
    """One block's attention: each (n, heads, T, T)."""

    weights: Tensor  # rows sum to 1
    scores: Tensor  # what they are the softmax of
    gradient: Tensor  # the score's gradient at the weights


class Heads(AttentionWeights):
    """A forward pass whose attention is written out, so that weights are tensors of the graph."""

    def __init__(self, method: str) -> None:
        super().__init__(self._keep)
        self.method = method
        self.weights: list[Tensor] = []
        self.all_scores: list[Tensor] = []

    def _keep(self, weights: Tensor, _seen: Tensor, _axis: int) -> None:
        assert self.scores is not None  # nothing is fused here
        self.weights.append(weights)
        self.all_scores.append(self.scores.detach())

    def __torch_function__(
        self, func: Operation, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is functional.scaled_dot_product_attention:
            with self:
                return self._attend(*args, **(kwargs or {}))
        if func is functional.multi_head_attention_forward:
            with self:
                return attention_by_head(functional.linear, self._attend_and_tell, self._refusal, args, kwargs or {})
        return super().__torch_function__(func, types, args, kwargs)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
        is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
    ) -> Tensor:  # fmt: skip
        if dropout_p or enable_gqa:
            raise self._refusal("dropout or grouped queries")
        if is_causal:
            attn_mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            attn_mask = torch.zeros(attn_mask.shape).to(query).masked_fill(~attn_mask, -torch.inf)
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        return torch.softmax(scores if attn_mask is None else scores + attn_mask, dim=-1) @ value

    def _attend_and_tell(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        return self._attend(query, key, value), self.weights[-1]

    def _refusal(self, what: str) -> SalgenError:
        return SalgenError(f"{self.method} follows no attention with {what}: choose another network or method")


def heads_of(method: str, context: AttributionContext) -> tuple[Tokens, list[Head]]:
    """The tokens, and the attention of each block that counts, in order; one pass for all methods of a batch."""
    tokens, count = tokens_of.of(method, context.model, context.inputs), len(context.inputs)

    def run() -> list[Head]:
        with torch.enable_grad(), Heads(method) as mode:
            logits = context.model.logits(context.inputs.detach().requires_grad_())
        weights = [mode.weights[number] for number in tokens.attentions]
        gradients = torch.autograd.grad((logits * context.start(logits)).sum(), weights)
        found = zip(weights, [mode.all_scores[number] for number in tokens.attentions], gradients, strict=True)
        return [Head(*(_by_head(tensor.detach(), count) for tensor in tensors)) for tensors in found]

    return tokens, context.cache.get(Head, run)


def _by_head(values: Tensor, count: int) -> Tensor:
    """(n, heads, T, T), whether heads are an axis of their own or not there."""
    return values.reshape(count, -1, *values.shape[-2:])


def _blocks(tokens: Tokens) -> list[str]:
    """The names of the modules that hold one attention each, beside each other."""
    paths = [name.split(".") for name in tokens.layers]
    depth = next((k for k, parts in enumerate(zip(*paths, strict=False)) if len(set(parts)) > 1), len(paths[0]) - 1)
    return [".".join(path[: depth + 1]) for path in paths]
