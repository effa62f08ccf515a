"""Transformer attribution: relevance of attention times its gradient, followed through all blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
import torch
from torch import Tensor
from torch.nn import functional
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.propagation import operations as ops
from salgen.evaluation.attribution.propagation.attnlrp_rules import Function
from salgen.evaluation.attribution.propagation.relevance_network import RelevanceNetwork, Rules
from salgen.evaluation.attribution.relevance import stabilised
from salgen.evaluation.methods.attention_gradients import AttentionGradient, Heads, heads_of
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache

_STABILISER = 1e-9  # the authors'


@dataclass(frozen=True)
class TransformerAttribution(AttentionGradient):
    """The relevance of attention times its gradient, rectified and averaged over heads, through all blocks.

    From R = I on, each block adds its matrix times R. Relevance starts with 1 at the target. Dense layers take z+
    without biases; norms, activations and softmax pass it on; products give half to each factor. A residual
    sum shares it in proportion. As in the authors' code, each term is then scaled to the share of its absolute sum. It
    costs two forward passes, and a backward pass for each block and one more.
    """

    name = "transformer-attribution"
    reference = (
        "Chefer et al. 2021a, Transformer interpretability beyond attention visualization, "
        "doi:10.48550/arXiv.2012.09838"
    )

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other attention, or with operations that have no rule."""
        super().check(model, image)
        _checked.of(self.name, model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        from zennit.rules import Norm, Pass, ZPlus

        tokens, heads = heads_of(self.name, context)
        network = context.cache.get(
            _AttentionRelevance,
            lambda: _AttentionRelevance.forward(self.name, context.model, context.inputs, context.passes.logits),
        )
        rule = ZPlus(stabilizer=_STABILISER, zero_params=["bias"])
        rules = Rules(lambda linear: Pass() if linear.elementwise else rule, sharing=Norm(stabilised(_STABILISER)))
        start, rolled = context.start(network.output.detach()), torch.eye(heads[0].weights.shape[-1])
        rolled = rolled.to(heads[0].weights)
        for one, number in zip(heads, tokens.attentions, strict=True):
            relevance = network.propagate(rules, network.output, start, network.weights[number])
            relevance = relevance.reshape(one.gradient.shape).to(one.gradient)
            rolled = rolled + (one.gradient * relevance).clamp(min=0).mean(dim=1) @ rolled
        return tokens.map_of(rolled)


class _AttentionRelevance(RelevanceNetwork):
    """A forward pass whose backward pass propagates relevance by the method's rules, down to attention weights."""

    def __init__(self, method: str, leaf: Tensor) -> None:
        super().__init__(method, leaf)
        self.weights: list[Tensor] = []  # one for each attention, in the order of calls

    def weigh(self, softmax: Function, scores: Tensor) -> Tensor:
        """Each weight takes the relevance of its score."""
        self.weights.append(self.keep(softmax, scores))
        return self.weights[-1]

    def operate(self, operation: ops.Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The operation with its rule; a layer norm passes relevance on."""
        if operation is functional.layer_norm:
            return self.keep(lambda t: operation(t, *args[1:], **kwargs), args[0])
        return super().operate(operation, args, kwargs)

    def add(self, input: Any, other: Any, *, alpha: float = 1) -> Tensor:
        """A sum of two signals shares relevance in proportion, scaled to the terms' absolute sums."""
        both = all(isinstance(term, Tensor) and term.requires_grad for term in (input, other))
        if not both or alpha != 1:
            return super().add(input, other, alpha=alpha)
        if input.shape != other.shape or len(input) != len(self.leaf):
            raise self.refuse(
                "a sum of signals of other shapes, or whose first axis is not the batch", "choose generic-attention"
            )
        terms = _Rescaled.apply(input, other)
        return self.share(lambda t: t.sum(dim=-1), torch.stack(terms, dim=-1))

    def release(self) -> None:
        """Let go of the weights too."""
        super().release()
        self.weights.clear()


class _Rescaled(torch.autograd.Function):
    """The identity of two terms, which scales their relevance to the shares of their absolute sums over each image."""

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """Both terms."""
        return first.clone(), second.clone()

    @staticmethod
    def backward(ctx: Any, *relevance: Tensor) -> tuple[Tensor, ...]:
        """The relevance of both terms."""
        sums = [part.flatten(1).sum(dim=1) for part in relevance]
        whole, size = sums[0] + sums[1], sums[0].abs() + sums[1].abs()
        scales = [torch.where(own == 0, 0, own.sign() * whole / torch.where(size == 0, 1, size)) for own in sums]
        return tuple(
            part * scale.view(-1, *[1] * (part.ndim - 1)) for part, scale in zip(relevance, scales, strict=True)
        )


def _check(method: str, view: ModelView, image: Tensor) -> None:
    with torch.no_grad(), Heads(method) as mode:
        view.logits(image)
    network = _AttentionRelevance.forward(method, view, image)
    try:
        if [weights.numel() for weights in network.weights] != [weights.numel() for weights in mode.weights]:
            raise SalgenError(f"{method}: not every softmax of the network is attention: choose generic-attention")
    finally:
        network.release()


_checked = NetworkCache(_check)
