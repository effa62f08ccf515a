"""Changes of the explained class's probability when the map masks the image."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
import numpy as np
from salgen.evaluation.metrics.inputs.metric import Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.parameters import by_parameters, param
from salgen.types import Float64

if TYPE_CHECKING:
    from torch import Tensor

SMALLEST = 1e-12  # the smallest divisor
SPACES = ("normalised", "pixel")
SPACE = "where the map multiplies the image: after the model's normalisation, or before it"


@dataclass(frozen=True)
class AverageDrop(ModelMetric):
    """Relative loss of the explained class's probability when the map masks the image.

    max(0, p - o) / max(p, 1e-12). p is the class's probability on the image x, and o that on x times mm(S). mm(S) =
    (S - min S) / (max S - min S) over the whole map. x is the normalised image, so hidden pixels become 0; with
    ``space=pixel`` they become black. Its mean is the paper's average drop, as a share.

    Ties: a constant map hides everything.
    Undefined: never.
    Errata: Aabid & Sicre print |p - o| / p, which counts a gain as a loss and has no upper bound: ``compat=aabid``.
    """

    name = "average-drop"
    higher_is_better = False
    reference = (
        "Chattopadhay et al. 2018, Grad-CAM++, average drop, doi:10.1109/WACV.2018.00097; masked as in Wang et al. "
        "2020, Score-CAM, doi:10.1109/CVPRW50498.2020.00020"
    )

    space: str = param("normalised", SPACE, choices=SPACES)
    compat: str | None = param(None, "`aabid`: |p - o| / p, as that paper prints it", choices=("aabid",))

    bounds = by_parameters(ModelMetric.bounds)(lambda m: (0.0, math.inf) if m.compat else ModelMetric.bounds)

    def measure(self, data: MetricInputs) -> Measured:
        """In [0, 1]; of float64 differences."""
        before, after = before_and_after(data, self.space)
        lost = abs(before - after) if self.compat == "aabid" else np.maximum(before - after, 0.0)
        return lost / np.maximum(before, SMALLEST), [""] * len(data)


@dataclass(frozen=True)
class AverageIncrease(ModelMetric):
    """1 if the explained class's probability rises when the map masks the image, else 0.

    1 if p < o, with p and o as in `average-drop`. Its mean is the paper's increase in confidence.

    Ties: p = o is no rise. A constant map hides everything.
    Undefined: never.
    Errata: Aabid & Sicre print p <= o: ``compat=aabid``.
    """

    name = "average-increase"
    reference = (
        "Chattopadhay et al. 2018, Grad-CAM++, increase in confidence, doi:10.1109/WACV.2018.00097; masked as in Wang "
        "et al. 2020, Score-CAM, doi:10.1109/CVPRW50498.2020.00020"
    )

    space: str = param("normalised", SPACE, choices=SPACES)
    compat: str | None = param(None, "`aabid`: p <= o, as that paper prints it", choices=("aabid",))

    def measure(self, data: MetricInputs) -> Measured:
        """0 or 1."""
        before, after = before_and_after(data, self.space)
        rises = before <= after if self.compat == "aabid" else before < after
        return rises.astype(np.float64), [""] * len(data)


def before_and_after(data: MetricInputs, space: str = "normalised") -> tuple[Float64, Float64]:
    """The explained class's probability on the images and on the masked images, each float64 (N,)."""
    from salgen.evaluation.metrics.inputs.changed_images import original_probabilities

    masked = data.cached(("masked by the map", space), lambda: _masked_probabilities(data, space))
    return original_probabilities(data), masked


def _masked_probabilities(data: MetricInputs, space: str) -> Float64:
    import torch
    from salgen.evaluation.attribution.reductions import resize
    from salgen.evaluation.metrics.inputs.changed_images import probabilities_of

    probe = data.predictor
    images = probe.inputs if space == "normalised" else probe.pixels
    no_mask = np.zeros(data.maps.shape[1:], dtype=bool)
    scaled = torch.from_numpy(np.stack([Ranking(saliency, no_mask).scaled for saliency in data.maps]))
    masks = resize(scaled.to(images)[:, None], images.shape[2:])

    def inputs(part: slice) -> Tensor:
        masked = images[part] * masks[part]
        return masked if space == "normalised" else probe.normalised(masked)

    return probabilities_of(data, torch.arange(len(images), device=images.device), inputs)
