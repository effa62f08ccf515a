"""FEM: where a layer's channels are far above their means."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, weighted
from salgen.parameters import param

NAMES = ("fem",)

_SPREAD = 1e-6  # a standard deviation below this share of the mean is rounding in float32


@dataclass(frozen=True)
class Fem(ClassActivation):
    """For each pixel, the sum of the means of those channels that exceed their mean by `k` deviations there.

    The sum is rectified, which matters where means are negative. That is the paper's map. pytorch-grad-cam's sums the
    activations instead, each channel weighted by its share of such pixels. Of N pixels none is more than
    sqrt(N - 1) deviations above the mean: by default the map of a layer of 2 x 2 is zero. It costs one forward pass,
    which all share.
    """

    name: ClassVar[str] = "fem"
    reference: ClassVar[str] = (
        "Fuad et al. 2020, Features understanding in 3D CNNs for actions recognition in video, "
        "doi:10.1109/IPTA50016.2020.9286629"
    )
    class_dependent: ClassVar[bool] = False
    reads_gradients: ClassVar[bool] = False
    in_all: ClassVar[bool] = False
    quick: ClassVar[Mapping[str, Any]] = {"k": 0.5}

    k: float = param(2.0, "standard deviations above the mean from which a pixel counts")

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w); zero where the layer is constant in space."""
        activations = context.activations(layer)
        means = activations.mean(dim=(2, 3), keepdim=True)
        deviations = activations.std(dim=(2, 3), correction=0, keepdim=True)
        above = (activations > means + self.k * deviations) & (deviations > _SPREAD * means.abs())
        return weighted(means, above).clamp(min=0)
