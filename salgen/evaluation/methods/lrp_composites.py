"""LRP with another rule for convolutions, dense layers and the first layer: zennit's composites, and AttnLRP."""

from dataclasses import dataclass
from typing import Any
from torch import Tensor
from torch.nn import functional
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.propagation.input_bounds import Box
from salgen.evaluation.attribution.propagation.relevance_network import Affine, Rules
from salgen.evaluation.attribution.relevance import STARTS, first_maps, relevance, relevance_network, stabilised
from salgen.evaluation.methods.deep_taylor import check_bounds, known_box
from salgen.evaluation.methods.lrp import Lrp
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param


@dataclass(frozen=True)
class Composite(Lrp):
    """A rule for each kind of linear map; the first ones are those that take the network's own input.

    Biases take their share, as in zennit. It costs one forward and one backward pass, the forward one shared.
    """

    in_all = False

    epsilon: float = param(1e-6, "added to the denominator of the epsilon rule, with its sign", low=0.0)
    start: str = param("one", "relevance of the target's output", choices=STARTS)
    stabiliser: float = param(1e-6, "added to the denominators of other rules, with their sign", low=0.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import Epsilon, Norm, Pass

        first = first_maps(self.name, context.model, context.inputs).positions
        epsilon, boxes = Epsilon(epsilon=stabilised(self.epsilon)), self._boxes(context)

        def rule(layer: Affine) -> Any:
            if layer.elementwise:
                return Pass()
            chosen = self._rule(layer, layer.position in first, boxes.get(layer.position))
            return epsilon if chosen is None else chosen

        return relevance(context, self.name, Rules(rule, sharing=Norm(stabilised(self.stabiliser))), self.start)

    def _rule(self, layer: Affine, first: bool, box: Box | None) -> Any:
        """The zennit rule of a linear map; None for the epsilon rule."""
        raise NotImplementedError

    def _boxes(self, context: AttributionContext) -> dict[int, Box]:
        """The bounds of the inputs of linear maps, by their positions, if they are needed."""
        return {}


@dataclass(frozen=True)
class EpsilonGammaBox(Composite):
    """The z-B rule for the first convolutions, the gamma rule for others, and the epsilon rule for dense layers.

    The bounds of the first layer's input are a classifier's normalised black and white, or are given.
    """

    name = "epsilon-gamma-box"
    reference = "Montavon et al. 2019, Layer-wise relevance propagation: an overview, doi:10.1007/978-3-030-28954-6_10"

    gamma: float = param(0.25, "weight of the positive parts of convolutions", low=0.0)
    low: float | None = param(None, "lowest value of the network's input; by default that of the normalised range")
    high: float | None = param(None, "highest value of the network's input; by default that of the normalised range")

    def __post_init__(self) -> None:
        check_bounds(self.name, self.low, self.high)

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other operations, and inputs of unknown bounds."""
        super().check(model, image)
        if self.low is None and not model.unit_pixels:
            raise SalgenError(
                f"{self.name} needs the bounds of the network's input: give low= and high=, or wrap the model in "
                "Classifier(network, normalise), or choose epsilon-plus-flat"
            )
        if unbounded := first_maps(self.name, model, image).unbounded:
            raise SalgenError(f"{self.name}: {unbounded}: choose epsilon-plus-flat")

    def _rule(self, layer: Affine, first: bool, box: Box | None) -> Any:
        from zennit.rules import Gamma, ZBox

        stabiliser = stabilised(self.stabiliser)
        if layer.operation is functional.linear:
            return None
        return ZBox(*box, stabilizer=stabiliser) if first and box else Gamma(self.gamma, stabilizer=stabiliser)

    def _boxes(self, context: AttributionContext) -> dict[int, Box]:
        network, box = relevance_network(context, self.name), known_box(context, self.low, self.high)
        if box is None:
            return {}
        ends = (box[0].to(network.leaf), box[1].to(network.leaf))
        return {place: call.from_input(ends) for place, call in network.calls.items() if call.from_input is not None}


@dataclass(frozen=True)
class EpsilonPlusFlat(Composite):
    """The flat rule for the first layer, z+ for convolutions, and the epsilon rule for dense layers."""

    name = "epsilon-plus-flat"
    shows_image = False
    reference = (
        "Kohlbrenner et al. 2020, Towards best practice in explaining neural network decisions with LRP, "
        "doi:10.48550/arXiv.1910.09840"
    )

    def _rule(self, layer: Affine, first: bool, box: Box | None) -> Any:
        from zennit.rules import Flat

        if first:
            return Flat(stabilizer=stabilised(self.stabiliser))
        return None if layer.operation is functional.linear else self._convolution()

    def _convolution(self) -> Any:
        from zennit.rules import ZPlus

        return ZPlus(stabilizer=stabilised(self.stabiliser))


@dataclass(frozen=True)
class EpsilonAlphaBetaFlat(EpsilonPlusFlat):
    """The flat rule for the first layer, alpha 2 and beta 1 for convolutions, and the epsilon rule for dense layers."""

    name = "epsilon-alpha2-beta1-flat"

    def _convolution(self) -> Any:
        from zennit.rules import AlphaBeta

        return AlphaBeta(2, 1, stabilizer=stabilised(self.stabiliser))


@dataclass(frozen=True)
class AttnLrp(Composite):
    """The gamma rule for all linear maps, with AttnLRP's rules for attention, norms and activations.

    These rules are those of `lrp-z`, which it is with both gammas 0. The paper chooses gammas for each network by a
    search; the defaults are zennit's for convolutions, and a fifth of it for dense layers.
    """

    name = "attn-lrp"
    reference = (
        "Achtibat et al. 2024, AttnLRP: attention-aware layer-wise relevance propagation for transformers, "
        "doi:10.48550/arXiv.2402.05602"
    )

    gamma: float = param(0.25, "weight of the positive parts of convolutions", low=0.0)
    dense_gamma: float = param(0.05, "weight of the positive parts of dense layers", low=0.0)

    def _rule(self, layer: Affine, first: bool, box: Box | None) -> Any:
        from zennit.rules import Gamma

        gamma = self.dense_gamma if layer.operation is functional.linear else self.gamma
        return Gamma(gamma, stabilizer=stabilised(self.stabiliser)) if gamma else None
