"""DeepLIFT, by captum."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from salgen.evaluation.attribution.attribution_context import AttributionContext, Explanation
from salgen.evaluation.attribution.fx_modules import Elementwise, separated
from salgen.evaluation.models.inspection.model_view import ModelView

NAMES = ("deep-lift",)


@dataclass(frozen=True)
class DeepLift(Explanation):
    """The contribution of each pixel to the difference from a black image, by the rescale rule.

    The rule takes any activation of one value, such as SiLU and GELU; it has no multiplier for a product of two signals
    or a norm of the signal's own values.
    Attributions sum to that difference. Samples go through captum one by one, since its rule for
    max pools takes the first sample's gradient for all where a pixel does not differ from black's.
    """

    name: ClassVar[str] = "deep-lift"
    reads_gradients: ClassVar[bool] = True
    shows_image: ClassVar[bool] = True
    reference: ClassVar[str] = (
        "Shrikumar et al. 2017, Learning important features through propagating activation differences"
    )
    reduction: ClassVar[str] = "sum"
    defined_for: ClassVar[str] = (
        "networks of affine layers, sums, max pools and activations of one value such as ReLU, SiLU and GELU, without "
        "layer norm, gates or attention"
    )

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks that torch.fx cannot trace, and those with other operations."""
        separated(self.name, model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        import captum.attr
        from captum.attr._core.deep_lift import SUPPORTED_NON_LINEAR, nonlinear

        SUPPORTED_NON_LINEAR.setdefault(Elementwise, nonlinear)
        network = _Scored(separated(self.name, context.model, context.inputs[:1]))
        peer = captum.attr.DeepLift(network, eps=max(1e-10, torch.finfo(context.inputs.dtype).tiny))
        starts, black = context.start(context.passes.logits()), context.black()
        maps = []
        for k in range(len(starts)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # captum says that it sets hooks
                image, start = context.inputs[k : k + 1], starts[k : k + 1]
                maps.append(peer.attribute(image, black, additional_forward_args=(start,)))
        return torch.cat(maps).detach()


class _Scored(nn.Module):
    """A network's score: its logits (n, K) times the gradient that the backward pass starts with."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor, start: Tensor) -> Tensor:
        score: Tensor = (self.network(inputs) * start).sum(dim=1)
        return score
