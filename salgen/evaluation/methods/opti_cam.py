"""Opti-CAM: channel weights found by optimisation, so that the masked image scores highest."""

from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, weighted
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.methods.fast_cam import min_max_scaled
from salgen.parameters import param


@dataclass(frozen=True)
class OptiCam(ClassActivation):
    """A layer's rectified channels, summed with the weights under which the masked image has the highest score.

    The weights are a softmax over channels of numbers that Adam changes, from equal ones on. The mask is the weighted
    sum, resized bilinearly to the image and scaled to [0, 1]. It multiplies the image before normalisation. The
    authors' code also stops where a batch's loss rises between tenths of the steps, which is not done here. It costs
    `steps` forward and backward passes for each layer.
    """

    name = "opti-cam"
    cost = "50"
    reference = (
        "Zhang et al. 2024, Opti-CAM: optimizing saliency maps for interpretability, doi:10.48550/arXiv.2301.07002"
    )
    shares = None
    own_passes = True
    in_all = False
    quick: ClassVar = {"steps": 3}

    steps: int = param(50, "steps of the optimisation", low=1)
    rate: float = param(0.1, "learning rate of Adam", low=0.0)

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        channels, pixels = context.activations(layer).clamp(min=0), context.pixels
        numbers = torch.zeros_like(channels[:, :, :1, :1]).requires_grad_()
        adam = torch.optim.Adam([numbers], lr=self.rate)
        for _ in range(self.steps):
            mask = min_max_scaled(resize(weighted(numbers.softmax(dim=1), channels), pixels.shape[2:]))
            inputs = context.model.normalise(pixels * mask.to(pixels)).to(context.inputs)
            loss = -context.scores_of(inputs, context.targets).sum()
            (numbers.grad,) = torch.autograd.grad(loss, numbers)
            adam.step()
        return weighted(numbers.detach().softmax(dim=1), channels)
