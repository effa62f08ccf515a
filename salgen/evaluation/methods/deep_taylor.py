"""Deep Taylor decomposition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.propagation.input_bounds import Box
from salgen.evaluation.attribution.propagation.relevance_network import Affine, Rules
from salgen.evaluation.attribution.relevance import (
    STARTS,
    first_maps,
    last_mixing,
    relevance,
    relevance_network,
    stabilised,
)
from salgen.evaluation.methods.lrp import RelevanceMethod
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param


@dataclass(frozen=True)
class DeepTaylor(RelevanceMethod):
    """Relevance by positive contributions (z+), by squared weights at the last linear layer.

    The first layer takes z+ too where inputs cannot be negative, else the z-B rule with the inputs' bounds. A
    classifier's bounds are its normalised black and white.
    """

    name = "deep-taylor"
    shows_image = True
    reference = (
        "Montavon et al. 2017, Explaining nonlinear classification decisions with deep Taylor, "
        "doi:10.1016/j.patcog.2016.11.008"
    )

    first: str = param(
        "auto",
        "rule of the first layer: auto takes box where inputs may be negative",
        choices=("auto", "alpha1beta0", "box"),
    )
    low: float | None = param(None, "lowest value of the network's input; by default that of the normalised range")
    high: float | None = param(None, "highest value of the network's input; by default that of the normalised range")
    bias: bool = param(False, "let biases take their share")
    start: str = param("one", "relevance of the target's output; logit takes its positive part", choices=STARTS)
    stabiliser: float = param(1e-6, "added to a denominator, with its sign", low=0.0)

    def __post_init__(self) -> None:
        check_bounds(self.name, self.low, self.high)

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other operations, and signed inputs of unknown bounds."""
        super().check(model, image)
        if self.first == "box" or (self.first == "auto" and bool((image < 0).any())):
            self._check_box(model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, C, h, w); non-negative but for margins, too narrow a box, and negative terms of a residual sum."""
        from zennit.rules import Norm

        network = relevance_network(context, self.name)
        box, last = self._box(context, network.leaf), last_mixing(network)
        first = {} if box is None else {place: call.from_input for place, call in network.calls.items()}
        boxes = {place: bounds(box) for place, bounds in first.items() if box is not None and bounds is not None}
        rules = Rules(lambda layer: self._rule(layer, last, boxes), sharing=Norm(stabilised(self.stabiliser)))
        return relevance(context, self.name, rules, self.start, positive=True)

    def _rule(self, layer: Affine, last: int, boxes: Mapping[int, Box]) -> Any:
        from zennit.rules import Pass, WSquare, ZBox, ZPlus

        stabiliser = stabilised(self.stabiliser)
        if layer.elementwise:
            return Pass()
        if layer.position == last:
            return WSquare(stabilizer=stabiliser, zero_params=["bias"])
        if layer.position in boxes:
            return ZBox(*boxes[layer.position], stabilizer=stabiliser)
        return ZPlus(stabilizer=stabiliser, zero_params=None if self.bias else ["bias"])

    def _check_box(self, model: ModelView, inputs: Tensor) -> None:
        """Refuse inputs and networks that the z-B rule is not for."""
        if self.low is None and not model.unit_pixels:
            raise SalgenError(
                f"{self.name}: the z-B rule of signed inputs needs their bounds: give low= and high=, "
                "or wrap the model in Classifier(network, normalise), or choose first=alpha1beta0"
            )
        first = first_maps(self.name, model, inputs)
        if first.unbounded:
            raise SalgenError(f"{self.name}: {first.unbounded}: choose first=alpha1beta0, or another method")
        if self.first == "box" and not first.positions:
            raise SalgenError(
                f"{self.name}: first=box is for a first layer that takes the network's input; here a ReLU comes before "
                "it, or it is the last: choose first=alpha1beta0"
            )

    def _box(self, context: AttributionContext, leaf: Tensor) -> Box | None:
        """The lowest and highest values of the network's input `leaf`, where the first layer takes z-B."""
        if self.first == "alpha1beta0":
            return None
        box = known_box(context, self.low, self.high)
        lowest = context.inputs if box is None else box[0]
        if self.first == "auto" and not bool((lowest < 0).any()):
            return None
        self._check_box(context.model, context.inputs)
        return None if box is None else (box[0].to(leaf), box[1].to(leaf))


def check_bounds(method: str, low: float | None, high: float | None) -> None:
    """Refuse one bound alone, and a low one that is not below the high one."""
    if (low is None) != (high is None) or (low is not None and high is not None and low >= high):
        raise SalgenError(f"{method}: low={low}, high={high}: give both, low below high, or neither")


def known_box(context: AttributionContext, low: float | None, high: float | None) -> Box | None:
    """The lowest and highest values of normalised images, each (n, C, h, w): as given, else those of black and white.

    None where the range of pixels is not known.
    """
    if low is not None and high is not None:
        return torch.full_like(context.inputs, low), torch.full_like(context.inputs, high)
    if not context.model.unit_pixels:
        return None
    black, white = (corner.expand_as(context.inputs) for corner in context.model.corners(context.pixels))
    return torch.minimum(black, white), torch.maximum(black, white)
