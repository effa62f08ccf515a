"""GradientSHAP."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from salgen.evaluation.attribution.attribution_context import AttributionContext, Explanation
from salgen.evaluation.attribution.input_noise import normal, range_of
from salgen.parameters import param

NAMES = ("gradient-shap",)


@dataclass(frozen=True)
class GradientShap(Explanation):
    """The mean gradient at random points between a noisy black baseline and the image, times their difference.

    Per draw: a baseline, black plus normal noise of `noise` times the image's range (as
    SmoothGrad's), and a point uniform on the straight line. Attributions sum to about the score's
    difference from the mean score of the baselines. captum draws baselines from a given set instead,
    can add noise to the image, and takes its random numbers from NumPy's global generator.
    """

    name: ClassVar[str] = "gradient-shap"
    reads_gradients: ClassVar[bool] = True
    shows_image: ClassVar[bool] = True
    reference: ClassVar[str] = "Lundberg and Lee 2017, A unified approach to interpreting model predictions"
    reduction: ClassVar[str] = "sum"
    shares: ClassVar[str | None] = None
    quick: ClassVar[Mapping[str, Any]] = {"n": 3}

    n: int = param(50, "draws per image", low=1)
    noise: float = param(0.15, "standard deviation of the baselines, as a share of the image's range", low=0.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        inputs, streams = context.inputs, context.streams(self.name)
        deviation, black, total = self.noise * range_of(inputs), context.black(), torch.zeros_like(inputs)
        for _ in range(self.n):
            positions = torch.from_numpy(np.concatenate([stream.uniform(1) for stream in streams])).to(inputs)
            path = inputs - black - deviation * normal(inputs, streams)
            total += path * context.gradient(inputs - (1 - positions.view(-1, 1, 1, 1)) * path)
        return total / self.n
