"""Deep Taylor decomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from salgen.errors import SalgenError
from salgen.evaluation.methods.declarations import Explanation
from salgen.evaluation.relevance import STARTS, Corners, LinearMap, count_linear_maps, relevance
from salgen.evaluation.request import Request
from salgen.parameters import param

NAMES = ("deep-taylor",)


@dataclass(frozen=True)
class DeepTaylor(Explanation):
    """Relevance by positive contributions (z+), by squared weights at the last linear layer.

    The first layer takes z+ too where inputs cannot be negative, and else the z-B rule, which needs
    their bounds: a classifier's are its normalised black and white.
    """

    name: ClassVar[str] = "deep-taylor"
    reference: ClassVar[str] = "Montavon et al. 2017, Explaining nonlinear classification decisions with deep Taylor"
    reduction: ClassVar[str] = "sum"

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
        if (self.low is None) != (self.high is None):
            raise SalgenError(f"{self.name}: give both low and high, or neither")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise SalgenError(f"{self.name}: low={self.low:g} must be below high={self.high:g}")

    def attribute(self, request: Request) -> Tensor:
        """(n, C, h, w); non-negative unless the score is a margin or the box is too narrow."""
        corners = self._corners(request)
        last = count_linear_maps(request, self.name) - 1
        return relevance(
            request, self.name, lambda layer: self._rule(layer, last), self.start, corners=corners, positive=True
        )

    def _rule(self, layer: LinearMap, last: int) -> Any:
        from zennit.rules import WSquare, ZBox, ZPlus

        if layer.position == last:
            return WSquare(stabilizer=self.stabiliser, zero_params=["bias"])
        if layer.corners is not None:
            return ZBox(*layer.corners, stabilizer=self.stabiliser)
        return ZPlus(stabilizer=self.stabiliser, zero_params=None if self.bias else ["bias"])

    def _corners(self, request: Request) -> Corners | None:
        """The inputs' lowest and highest values where the first layer takes z-B."""
        if self.first == "alpha1beta0":
            return None
        corners = self._known_corners(request)
        if corners is None:
            if self.first == "box" or bool((request.inputs < 0).any()):
                raise SalgenError(
                    f"{self.name}: the z-B rule of signed inputs needs their bounds: give low= and high=, "
                    "or wrap the model in Classifier(network, normalise), or choose first=alpha1beta0"
                )
            return None
        return corners if self.first == "box" or bool((corners[0] < 0).any()) else None

    def _known_corners(self, request: Request) -> Corners | None:
        if self.low is not None and self.high is not None:
            shape = torch.zeros_like(request.inputs[:1])
            return shape + self.low, shape + self.high
        if not request.model.unit_pixels:
            return None
        black, white = request.model.corners(request.pixels)
        return torch.minimum(black, white), torch.maximum(black, white)
