"""The saliency metric: is a small crop around what the map marks enough for the class?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
import numpy as np
from salgen.evaluation.metrics.inputs.boxes import Box, above_mean, largest_component, tight_box
from salgen.evaluation.metrics.inputs.metric import Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.parameters import param
from salgen.types import Float64

if TYPE_CHECKING:
    from torch import Tensor

SMALLEST_SHARE = 0.05
SMALLEST_PROBABILITY = 1e-12


@dataclass(frozen=True)
class SaliencyMetric(ModelMetric):
    """Log of the box's share of the image, less the log of the class's probability for the crop.

    log max(a, 0.05) - log max(p, 1e-12). The box is tight around the largest 8-connected component of the pixels with
    S >= mean(S). a is its share of the image's area. p is the explained class's probability for the pixels in the box.
    These are resized bilinearly (``align_corners=False``) to the image's size, then normalised. A small box that keeps
    the class is best.

    Ties: as in `localization-error`. A constant map has the whole image as its box: -log p of the image itself.
    Undefined: never.
    Errata: the paper leaves out a parenthesis. Its code asks the model about the image without the crop:
    ``compat=aabid``.
    """

    name = "saliency-metric"
    higher_is_better = False
    bounds = (float(np.log(SMALLEST_SHARE)), np.inf)
    reference = (
        "Dabkowski & Gal 2017, Real time image saliency for black box classifiers, doi:10.48550/arXiv.1705.07857; "
        "Aabid & Sicre, Foreground segmentation to measure deep neural networks interpretability, SM"
    )

    compat: str | None = param(
        None, "`aabid`: the probability for the image without the crop, as in the code", choices=("aabid",)
    )

    def measure(self, data: MetricInputs) -> Measured:
        """At least log 0.05."""
        from salgen.evaluation.metrics.inputs.changed_images import original_probabilities

        boxes = [box_of(saliency) for saliency in data.maps]
        shares = np.array([box.area for box in boxes]) / data.maps[0].size
        probabilities = original_probabilities(data) if self.compat else of_crops(data, boxes)
        values = np.log(np.maximum(shares, SMALLEST_SHARE)) - np.log(np.clip(probabilities, SMALLEST_PROBABILITY, 1.0))
        return values, [""] * len(data)


def box_of(saliency: Values) -> Box:
    """The box around what a finite map (H, W) marks."""
    return tight_box(largest_component(above_mean(saliency, np.ones(saliency.shape, dtype=bool))))


def of_crops(data: MetricInputs, boxes: list[Box]) -> Float64:
    """The explained classes' probabilities, float64 (N,), for the images' boxes, resized to the images' size."""
    import torch
    from torch.nn.functional import interpolate
    from salgen.evaluation.metrics.inputs.changed_images import probabilities_of

    probe = data.predictor
    size = probe.pixels.shape[-2:]

    def crops(part: slice) -> Tensor:
        cut = [pixels[:, *box.pixels] for pixels, box in zip(probe.pixels[part], boxes[part], strict=True)]
        resized = [interpolate(crop[None], size=size, mode="bilinear", align_corners=False) for crop in cut]
        return probe.normalised(torch.cat(resized))

    return probabilities_of(data, torch.arange(len(boxes)), crops)
