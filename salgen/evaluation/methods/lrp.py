"""Layer-wise relevance propagation: one rule for every linear map."""

from dataclasses import dataclass
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.evaluation.attribution.propagation.relevance_network import Rules, lrp_only_error
from salgen.evaluation.attribution.relevance import STARTS, first_maps, relevance, stabilised
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param


@dataclass(frozen=True)
class RelevanceMethod(Method):
    """A method that propagates relevance from the output to the input."""

    family = "relevance"
    defined_for = "networks of convolutions, linear maps, batch norm, ReLU, ReLU6, pooling, sums and dropout"
    lrp_rules = False  # whether it takes the rules of LRP for signed activations, norms and products

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other operations."""
        lrp_only = first_maps(self.name, model, image).lrp_only
        if lrp_only and not self.lrp_rules:
            raise lrp_only_error(self.name, lrp_only)


@dataclass(frozen=True)
class Lrp(RelevanceMethod):
    """Base of LRP, whose rules are for more operations."""

    shows_image = True
    defined_for = (
        f"{RelevanceMethod.defined_for}; and with smooth activations such as SiLU, GELU and Hardswish, layer and group "
        "norm, gates, products and attention"
    )
    lrp_rules = True
    reference = (
        "Bach et al. 2015, On pixel-wise explanations by layer-wise relevance propagation, "
        "doi:10.1371/journal.pone.0130140"
    )


@dataclass(frozen=True)
class LrpZ(Lrp):
    """Relevance in proportion to each input's contribution to the pre-activation, bias included.

    On a ReLU network, relevance times the logit is input times gradient, but for the stabiliser.
    """

    name = "lrp-z"

    start: str = param("one", "relevance of the target's output", choices=STARTS)
    stabiliser: float = param(1e-6, "added to a denominator, with its sign", low=0.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import Epsilon, Norm

        stabiliser = stabilised(self.stabiliser)
        rule = Epsilon(epsilon=stabiliser)
        return relevance(context, self.name, Rules(lambda _: rule, sharing=Norm(stabiliser)), self.start)


@dataclass(frozen=True)
class LrpAlphaBeta(Lrp):
    """Relevance by positive contributions times alpha, minus by negative ones times beta."""

    name = "lrp-alpha-beta"

    alpha: float = param(2.0, "weight of positive contributions; alpha - beta = 1", low=1.0)
    beta: float = param(1.0, "weight of negative contributions", low=0.0)
    bias: bool = param(False, "let biases take their share")
    start: str = param("one", "relevance of the target's output", choices=STARTS)
    stabiliser: float = param(1e-6, "added to a denominator, with its sign", low=0.0)

    def __post_init__(self) -> None:
        if abs(self.alpha - self.beta - 1) > 1e-9:
            raise SalgenError(
                f"{self.name}: alpha - beta must be 1 so that relevance is conserved; "
                f"got alpha={self.alpha:g}, beta={self.beta:g} (try alpha={self.beta + 1:g})"
            )

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import AlphaBeta, Norm, Pass

        stabiliser, zeroed = stabilised(self.stabiliser), None if self.bias else ["bias"]
        beta = self.alpha - 1  # zennit requires a difference of exactly 1
        rule = AlphaBeta(alpha=self.alpha, beta=beta, stabilizer=stabiliser, zero_params=zeroed)
        # a map that only scales each value would multiply its relevance by alpha, or by -beta
        rules = Rules(lambda linear: Pass() if linear.elementwise else rule, sharing=Norm(stabiliser))
        return relevance(context, self.name, rules, self.start)
