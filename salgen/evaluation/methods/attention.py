"""The attention of a vision transformer's class token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext, Explanation
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.attribution.propagation.operations import ANY_NETWORK
from salgen.evaluation.models.inspection.layers import find_layer
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.network_trace import hooked

NAMES = ("raw-attention", "attention-rollout")


@dataclass(frozen=True)
class Block:
    """One self-attention of the network, by dotted names.

    Attributes
    ----------
    norm
        The layer norm whose output it attends over.
    attention
        Its ``nn.MultiheadAttention``.
    """

    norm: str
    attention: str


@dataclass(frozen=True)
class Attention(Explanation):
    """A map over patches from the attention of the class token, which is the first."""

    name: ClassVar[str]
    reduction: ClassVar[str] = "sum"  # of one channel
    signed: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = False
    resolution: ClassVar[str] = "the patch grid"
    defined_for: ClassVar[str] = "transformers of layer norm, then nn.MultiheadAttention, with a class token"

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks without such blocks."""
        attention_blocks(self.name, model, image)

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The layer norms whose outputs the blocks attend over."""
        blocks = self._used_blocks(attention_blocks(self.name, model, image))
        return PassRequirements(layers=frozenset(block.norm for block in blocks))

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, side, side)."""
        blocks = attention_blocks(self.name, context.model, context.inputs)
        patches = self._mixing([_attention(context, block) for block in self._used_blocks(blocks)])[:, 0, 1:]
        side = isqrt(patches.shape[1])
        return patches.reshape(-1, 1, side, side)

    def _used_blocks(self, blocks: list[Block]) -> list[Block]:
        """The blocks whose attention the method reads."""
        return blocks

    def _mixing(self, attentions: list[Tensor]) -> Tensor:
        """Each token's share in each other, (n, T, T), from attentions (n, T, T) in order."""
        raise NotImplementedError


@dataclass(frozen=True)
class RawAttention(Attention):
    """The class token's attention in the last block, mean over heads."""

    name: ClassVar[str] = "raw-attention"
    reference: ClassVar[str] = "Dosovitskiy et al. 2021, An image is worth 16x16 words"

    def _used_blocks(self, blocks: list[Block]) -> list[Block]:
        return blocks[-1:]

    def _mixing(self, attentions: list[Tensor]) -> Tensor:
        return attentions[-1]


@dataclass(frozen=True)
class AttentionRollout(Attention):
    """Attention followed through all blocks, half of it at each going round by the residual path.

    The product over blocks of 0.5 A + 0.5 I, where A is the mean over heads and each row is divided
    by its sum.
    """

    name: ClassVar[str] = "attention-rollout"
    reference: ClassVar[str] = "Abnar and Zuidema 2020, Quantifying attention flow in transformers"

    def _mixing(self, attentions: list[Tensor]) -> Tensor:
        rolled = torch.eye(attentions[0].shape[-1]).to(attentions[0])
        for attention in attentions:
            step = 0.5 * attention + 0.5 * torch.eye(attention.shape[-1]).to(attention)
            rolled = step / step.sum(dim=-1, keepdim=True) @ rolled
        return rolled


def attention_blocks(method: str, view: ModelView, image: Tensor) -> list[Block]:
    """Every self-attention over the output of a layer norm, in the order in which they run.

    They are found by running one image (1, C, h, w) and seeing what each attention was given.

    Raises
    ------
    SalgenError
        If there is none, one attends over anything else or runs more than once, or the tokens are
        not a class token and a square of patches.
    """
    return _blocks.of(method, view, image)


def _find_blocks(method: str, view: ModelView, image: Tensor) -> list[Block]:
    notes = _AttentionRecord(method, {module: name for name, module in view.network.named_modules()})
    with hooked(notes.hooks()), torch.no_grad():
        view.logits(image[:1])
    if not notes.blocks:
        raise SalgenError(f"{method}: the network has no attention{_ADVICE}")
    if len({block.norm for block in notes.blocks}) < len(notes.blocks):
        raise SalgenError(f"{method}: a block of the network runs more than once{_ADVICE}")
    return notes.blocks


_blocks = NetworkCache(_find_blocks)


_ADVICE = f": it is for vision transformers such as vit-b-16; choose another method or network ({ANY_NETWORK})"


@dataclass
class _AttentionRecord:
    """A record of the layer norms and attentions that run in one image's forward pass, made by hooks."""

    method: str
    names: dict[nn.Module, str]
    blocks: list[Block] = field(default_factory=list)
    _normed: dict[int, tuple[str, Tensor]] = field(default_factory=dict)  # holding a tensor keeps its id its own

    def hooks(self) -> Iterator[tuple[nn.Module, Callable[..., None]]]:
        for module in self.names:
            if isinstance(module, nn.LayerNorm):
                yield module, self._note_norm
            elif isinstance(module, nn.MultiheadAttention):
                yield module, self._note_attention

    def _note_norm(self, module: nn.Module, _inputs: Any, output: Tensor) -> None:
        self._normed[id(output)] = (self.names[module], output)

    def _note_attention(self, module: nn.MultiheadAttention, inputs: tuple[Any, ...], _output: Any) -> None:
        is_self_attention = len(inputs) >= 3 and inputs[0] is inputs[1] is inputs[2]
        if not is_self_attention or id(inputs[0]) not in self._normed:
            raise SalgenError(f"{self.method}: {self.names[module]!r} is no self-attention over a layer norm{_ADVICE}")
        tokens = _attention_weights(module, inputs[0]).shape[-1]
        if tokens < 2 or isqrt(tokens - 1) ** 2 != tokens - 1:
            raise SalgenError(f"{self.method}: {tokens} tokens are no class token and a square of patches{_ADVICE}")
        self.blocks.append(Block(self._normed[id(inputs[0])][0], self.names[module]))


def _attention(context: AttributionContext, block: Block) -> Tensor:
    """The block's attention (n, T, T): rows sum to 1, mean over heads."""
    module = find_layer(context.model, block.attention)
    assert isinstance(module, nn.MultiheadAttention)
    return context.cache.get(block, lambda: _attention_weights(module, context.passes.output(block.norm)))


def _attention_weights(module: nn.MultiheadAttention, tokens: Tensor) -> Tensor:
    """The attention weights, which a forward pass does not return by default; the module's hooks do not run."""
    with torch.no_grad():
        _, weights = module.forward(tokens, tokens, tokens, need_weights=True)
    assert weights is not None
    return weights
