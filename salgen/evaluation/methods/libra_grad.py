"""LibraGrad: input times a gradient with some factors held constant."""

from collections.abc import Callable
from dataclasses import dataclass
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.propagation.relevance_network import RelevanceNetwork, Rules
from salgen.evaluation.attribution.relevance import stabilised
from salgen.evaluation.methods.lrp import Lrp
from salgen.parameters import param


@dataclass(frozen=True)
class LibraGrad(Lrp):
    """Input times gradient, of a network whose attention weights, gates and deviations of norms are constant.

    A smooth activation is a constant times its input, and each factor of another product takes half. This is the
    paper's Libra Input x Gradient. It is `lrp-z` from the logit on, but that attention weights take nothing. It costs
    one forward and one backward pass.
    """

    name = "libragrad"
    in_all = False
    reference = (
        "Mehri et al. 2025, LibraGrad: balancing gradient flow for universally better vision transformer attributions, "
        "doi:10.48550/arXiv.2411.16760"
    )

    stabiliser: float = param(1e-6, "added to a denominator, with its sign", low=0.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import Epsilon, Norm

        network = context.cache.get(
            _ConstantAttention,
            lambda: _ConstantAttention.forward(self.name, context.model, context.inputs, context.passes.logits),
        )
        logits, stabiliser = network.output.detach(), stabilised(self.stabiliser)
        rule = Epsilon(epsilon=stabiliser)
        rules = Rules(lambda _: rule, sharing=Norm(stabiliser))
        return network.propagate(rules, network.output, context.start(logits) * logits, network.leaf)


class _ConstantAttention(RelevanceNetwork):
    """A forward pass that propagates relevance, whose attention weights take none."""

    def weigh(self, softmax: Callable[[Tensor], Tensor], scores: Tensor) -> Tensor:
        """Attention weights without a way back."""
        return softmax(scores).detach()
