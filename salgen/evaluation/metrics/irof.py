"""IROF: regions of the image are taken out in the order of the map's mean over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
import numpy as np
from salgen.evaluation.metrics.inputs.metric import Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.insertion import IMAGES, reference_images
from salgen.parameters import param
from salgen.seeding import Stream

if TYPE_CHECKING:
    from torch import Tensor

SMALLEST = 1e-12  # the smallest divisor


@dataclass(frozen=True)
class Irof(ModelMetric):
    """Area over the class's relative probability as regions are taken out, those with the highest mean first.

    1 - the mean over k = 1..n of (q_{k-1} + q_k) / 2, with q_k = f(x without the first k regions) / f(x). Regions are
    the n SLIC segments of the image, and become the mean of each channel, or ``baseline``. Every region counts alike,
    whatever its size. Where taking out raises the probability, the value can be negative, without a bound. It costs a
    pass for each region.

    Ties: regions of equal means come in a random order from the seed and the sample's id.
    Undefined: never. f(x) counts as 1e-12 at least.
    """

    name = "irof"
    in_all = False
    bounds = (-np.inf, 1.0)
    reference = (
        "Rieger and Hansen 2020, IROF: a low resource evaluation metric for explanation methods, "
        "doi:10.48550/arXiv.2003.08747"
    )

    segments: int = param(50, "about how many segments", low=2)
    baseline: str = param("mean", "what pixels become; by default the mean of each channel", choices=IMAGES)

    def measure(self, data: MetricInputs) -> Measured:
        """At most 1."""
        empty = reference_images(data, self.baseline)
        values = [
            self._of(data, sample, stream, empty[sample]) for sample, stream in enumerate(data.streams(self.name))
        ]
        return np.array(values, dtype=np.float64), [""] * len(data)

    def _of(self, data: MetricInputs, sample: int, stream: Stream, empty: Tensor) -> float:
        import torch
        from salgen.evaluation.methods.lime_kernel_shap import slic
        from salgen.evaluation.metrics.inputs.changed_images import original_probabilities, probabilities_of

        images, key = data.predictor.inputs, ("slic", self.segments)
        regions = data.cached(key, lambda: [slic(image, self.segments).numpy() for image in images])[sample]
        count = int(regions.max()) + 1
        saliency = torch.from_numpy(data.maps[sample].astype(np.float64))
        if saliency.shape != regions.shape:
            saliency = torch.nn.functional.interpolate(saliency[None, None], regions.shape, mode="area")[0, 0]
        sizes = np.bincount(regions.ravel())
        means = np.bincount(regions.ravel(), saliency.numpy().ravel()) / sizes
        shuffled = stream.permutation(count)
        place = np.empty(count, dtype=np.int64)
        place[shuffled[np.argsort(-means[shuffled], kind="stable")]] = np.arange(count)
        image, places = images[sample], torch.from_numpy(place[regions]).to(empty.device)
        steps = torch.arange(1, count + 1, device=empty.device)

        def inputs(part: slice) -> Tensor:
            return torch.where(places < steps[part].view(-1, 1, 1, 1), empty, image)

        after = probabilities_of(data, torch.full_like(steps, sample), inputs)
        left = np.concatenate([[1.0], after / max(original_probabilities(data)[sample], SMALLEST)])
        return float(1 - (left[:-1] + left[1:]).mean() / 2)
