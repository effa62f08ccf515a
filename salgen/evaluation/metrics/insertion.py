"""The explained class's probability as pixels appear, or disappear, in the order of the map."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
import numpy as np
from numpy.typing import NDArray
from salgen.evaluation.metrics.inputs.metric import Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.parameters import by_parameters, param
from salgen.types import Float64

if TYPE_CHECKING:
    from torch import Tensor

REFERENCES = ("blur", "black", "mean", "zero", "twin")  # images whose pixels replace those taken away
IMAGES = tuple(kind for kind in REFERENCES if kind != "twin")  # all samples have them
BLUR_SIDE, BLUR_SIGMA = 11, 5.0
REFERENCE_OF = {"petsiuk": "blur", "li2020": "blur", "saliency-bench": "black"}
DELETED = "zero"

WITH_REFERENCE = by_parameters(ModelMetric.needs)(  # the twins too, where they are the reference
    lambda metric: ModelMetric.needs | ({"twin"} if metric.baseline == "twin" else set())
)
COARSE = 8  # intervals or more at first, where the curve's area is to be known to a tolerance


def step_param() -> Any:
    """The field ``step`` of both metrics."""
    return param(None, "pixels per step; by default a row, from 224 rows on a 50th of the image", low=1)


def tolerance_param() -> Any:
    """The field ``tolerance`` of both metrics."""
    return param(0.0, "error of each image's area by which steps may be left out; 0 takes all", low=0, high=1)


@dataclass(frozen=True)
class InsertionAuc(ModelMetric):
    """Area under the explained class's probability as the map's largest pixels are put into an empty image.

    I_0 is the reference image. I_k is I_0 with the first k * step pixels of the normalised image x, in the map's order.
    I_n = x for n = ceil(HW / step), and f is the probability. By default a step is a row, from 224 rows on a 50th of
    the pixels. There a monotone curve's area is at most 0.01 off. ``step=224`` is RISE's code at 224. The value is

    - ``variant=petsiuk``: the mean over k = 1..n of (f(I_{k-1}) + f(I_k)) / 2, from the blurred image;
    - ``variant=saliency-bench``: the same, from the black image;
    - ``variant=li2020``: the mean over k = 0..n of f(I_k) - f(I_0), from the blurred image. It can be negative, and is
      0 where the model sees nothing that matters.

    ``tolerance`` leaves steps out. At first every eighth of the curve is known. An interval is halved while its
    trapezoid could be off by more than its share of the tolerance. Where the curve is monotone between known steps, the
    area is at most ``tolerance`` off that of all steps.

    Every step counts alike, though the last may change fewer pixels. The blur is a Gaussian of 11x11 pixels with sigma
    5 on the normalised image, reflected at its borders. ``baseline`` sets another reference. Only ``twin``, the image
    without the feature, is an image as the model knows them.

    Ties: tied pixels come in a random order from the seed and the sample's id. All methods share it, and so do
    insertion and deletion.
    Undefined: ``no_twin`` with ``baseline=twin`` where there is none.
    Errata: RISE's code folds the Gaussian's tails back into the window and pads with zeros. Here a uniform image stays
    as it is.
    """

    name = "insertion-auc"
    version = "2"
    reference = (
        "Petsiuk et al. 2018, RISE, insertion, doi:10.48550/arXiv.1806.07421; Li et al. 2020, eq. 9, "
        "doi:10.48550/arXiv.2012.15616; Zhang et al. 2025, Saliency-Bench, iAUC, doi:10.1145/3711896.3737414"
    )

    variant: str = param("petsiuk", "whose definition of the area and of the reference", choices=(*REFERENCE_OF,))
    step: int | None = step_param()
    tolerance: float = tolerance_param()
    baseline: str | None = param(
        None,
        "reference (`mean`: of each channel; `zero`: after normalisation); by default the variant's",
        choices=REFERENCES,
    )

    needs = WITH_REFERENCE
    bounds = by_parameters(ModelMetric.bounds)(lambda m: (-1.0, 1.0) if m.variant == "li2020" else ModelMetric.bounds)

    def measure(self, data: MetricInputs) -> Measured:
        """Float64 means of each sample's curve."""
        baseline = self.baseline or REFERENCE_OF[self.variant]
        curves = insertion_curve(data, baseline, self.step, self.tolerance)
        above = curves.mean(axis=1) - curves[:, 0]
        return above if self.variant == "li2020" else _area(curves), [""] * len(data)


@dataclass(frozen=True)
class DeletionAuc(ModelMetric):
    """Area under the explained class's probability as the map's largest pixels are taken out of the image.

    The mean over k = 1..n of (f(I_{k-1}) + f(I_k)) / 2. I_k is the normalised image with the first k * step pixels in
    the map's order set to 0, or to ``baseline``. All else is as in `insertion-auc`.

    Ties: as in `insertion-auc`, and in the same order.
    Undefined: ``no_twin`` with ``baseline=twin`` where there is none.
    """

    name = "deletion-auc"
    version = "2"
    higher_is_better = False
    reference = "Petsiuk et al. 2018, RISE, deletion, doi:10.48550/arXiv.1806.07421"

    step: int | None = step_param()
    tolerance: float = tolerance_param()
    baseline: str | None = param(
        None, "what pixels become; zero after the normalisation by default", choices=REFERENCES
    )

    needs = WITH_REFERENCE

    def measure(self, data: MetricInputs) -> Measured:
        """Float64 means of each sample's curve."""
        curves = deletion_curve(data, self.baseline or DELETED, self.step, self.tolerance)
        return _area(curves), [""] * len(data)


def _curve(
    data: MetricInputs, baseline: str, step: int | None = None, tolerance: float = 0.0, *, insertion: bool
) -> Float64:
    """The explained class's probability after each step of putting pixels in, or out, float64 (N, steps + 1).

    Insertion starts at one of `REFERENCES`, and ends at the image itself; deletion the other way round. With
    ``"twin"`` every sample must have one. A `tolerance` of the area leaves steps out, between which the curve is
    linear.
    """

    def compute() -> Float64:
        from salgen.evaluation.metrics.inputs import changed_images

        size = data.maps.shape[1:]
        count = -(-math.prod(size) // changed_images.pixels_per_step(size, step))  # the last may change fewer pixels
        image, empty = data.predictor.inputs, reference_images(data, baseline)
        before, after = (empty, image) if insertion else (image, empty)
        curves, known = np.zeros((len(data), count + 1)), np.zeros((len(data), count + 1), dtype=bool)
        at_image = count if insertion else 0
        curves[:, at_image], known[:, at_image] = changed_images.original_probabilities(data), True
        wanted = np.zeros_like(known)
        wanted[:, :: max(1, count // COARSE) if tolerance else 1] = True
        wanted[:, count] = True
        while (missing := wanted & ~known).any():
            samples, steps = np.nonzero(missing)
            curves[missing] = changed_images.stepwise_probabilities(data, before, after, step, samples, steps)
            known |= missing
            if tolerance:
                for curve, row in zip(curves, wanted, strict=True):
                    row[_steps_between(curve, np.flatnonzero(row), tolerance)] = True
        for curve, row in zip(curves, wanted, strict=True):
            curve[:] = np.interp(np.arange(count + 1), np.flatnonzero(row), curve[row])
        return curves

    return data.cached(("insertion" if insertion else "deletion", baseline, step, tolerance), compute)


insertion_curve, deletion_curve = partial(_curve, insertion=True), partial(_curve, insertion=False)


def _steps_between(curve: Float64, steps: NDArray[np.int64], tolerance: float) -> NDArray[np.int64]:
    """The middles of intervals between known steps in which the area (the mean) could be off by too much.

    A monotone curve lies in the rectangle between its two ends, so the trapezoid is off by half of it at most.
    """
    widths = np.diff(steps)
    errors = np.where(widths > 1, widths * np.abs(np.diff(curve[steps])), 0.0) / (2 * (len(curve) - 1))
    dear = (errors > tolerance / len(errors)) & (errors.sum() > tolerance)
    return np.asarray((steps[:-1] + widths // 2)[dear])


def _area(curves: Float64) -> Float64:
    """The trapezoidal rule over steps of equal width 1 / n: float64 (N,) of (N, n + 1)."""
    return np.asarray((curves[:, :-1] + curves[:, 1:]).mean(axis=1) / 2.0)


def reference_images(data: MetricInputs, kind: str) -> Tensor:
    """One of `REFERENCES` for each image, normalised (N, C, h, w).

    - ``blur``: the normalised image under a Gaussian of 11x11 pixels, sigma 5, reflected at the borders.
    - ``black``: black mapped through the normalisation.
    - ``mean``: the normalised image's mean in each channel.
    - ``zero``: zero after the normalisation.
    - ``twin``: the image without the feature, which every sample must have.
    """
    inputs = data.predictor.inputs
    if kind == "blur":
        return data.cached("blurred images", lambda: blurred(inputs))
    if kind == "twin":
        twins = np.stack([twin for twin in data.twins or () if twin is not None])
        return data.cached("normalised twins", lambda: replace(data.predictor, images=twins).inputs)
    if kind == "black":
        return data.predictor.black.expand_as(inputs)
    if kind == "mean":
        return inputs.mean(dim=(2, 3), keepdim=True).expand_as(inputs)
    return inputs.new_zeros(1).expand_as(inputs)


def blurred(images: Tensor) -> Tensor:
    """Images (N, C, h, w) under the Gaussian: a product with one matrix along each axis."""
    import torch
    from scipy.ndimage import gaussian_filter1d

    blur = partial(gaussian_filter1d, sigma=BLUR_SIGMA, axis=0, mode="mirror", radius=BLUR_SIDE // 2)
    down, across = (torch.from_numpy(blur(np.eye(length))).to(images) for length in images.shape[2:])
    return down @ images @ across.mT


@dataclass(frozen=True)
class SymmetricRelevanceGain(ModelMetric):
    """Area under the class's probability as the smallest pixels are taken out, less that for the largest first.

    Pixels become 0 after normalisation, or ``baseline``. Taking out the smallest ones leads over the images of
    insertion. So the value is the area of `insertion-auc` less that of `deletion-auc`, with the same ``baseline`` and
    ``step``. It costs no pass of its own beside these. Both areas are by the trapezoidal rule. A map of chance has
    about 0.

    Ties: as in `insertion-auc`.
    Undefined: never.
    """

    name = "srg"
    in_all = False
    bounds = (-1.0, 1.0)
    reference = (
        "Blücher et al. 2024, Decoupling pixel flipping and occlusion strategy for consistent XAI benchmarks, "
        "doi:10.48550/arXiv.2401.06654"
    )

    step: int | None = step_param()
    baseline: str = param(DELETED, "what pixels become", choices=IMAGES)

    def measure(self, data: MetricInputs) -> Measured:
        """In [-1, 1]."""
        gain = insertion_curve(data, self.baseline, self.step) - deletion_curve(data, self.baseline, self.step)
        return _area(gain), [""] * len(data)
