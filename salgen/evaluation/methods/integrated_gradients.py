"""Integrated gradients, by captum."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from salgen.evaluation.attribution.attribution_context import AttributionContext, Explanation
from salgen.parameters import param

NAMES = ("integrated-gradients",)


@dataclass(frozen=True)
class IntegratedGradients(Explanation):
    """Gradients integrated on the straight line from a black image, times the difference from it.

    Black is the image that is zero before normalisation. The integral is a Gauss-Legendre
    quadrature unless `quadrature` says otherwise; attributions sum to the score's difference from
    that of the black image, up to the quadrature's error.
    """

    name: ClassVar[str] = "integrated-gradients"
    reads_gradients: ClassVar[bool] = True
    shows_image: ClassVar[bool] = True
    reference: ClassVar[str] = "Sundararajan et al. 2017, Axiomatic attribution for deep networks"
    reduction: ClassVar[str] = "sum"
    shares: ClassVar[str | None] = None
    quick: ClassVar[Mapping[str, Any]] = {"steps": 4}

    steps: int = param(50, "points of the quadrature", low=1)
    quadrature: str = param("gauss-legendre", "how the integral is computed", choices=("gauss-legendre", "midpoint"))

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        import captum.attr

        attributions: Tensor = captum.attr.IntegratedGradients(context.scores_of).attribute(
            context.inputs.detach().clone(),
            baselines=context.black(),
            additional_forward_args=(context.targets,),
            n_steps=self.steps,
            method={"gauss-legendre": "gausslegendre", "midpoint": "riemann_middle"}[self.quadrature],
            internal_batch_size=len(context.inputs),
        )
        return attributions.detach()
