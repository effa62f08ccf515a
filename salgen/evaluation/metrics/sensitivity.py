"""The dependence of a map on small changes of the image, and on the class that it explains."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.map_similarity import pearson
from salgen.evaluation.metrics.inputs.metric import CONSTANT_MAP, NON_FINITE_MAP, ZERO_ENERGY, Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.parameters import param
from salgen.types import Float32, Float64

NORMS = ("l2", "relative", "rms")


@dataclass(frozen=True)
class MaxSensitivity(ModelMetric):
    """Largest change of the map over small random changes of the image: low for a stable method.

    max over n draws of ||E(x + d) - E(x)||. Every value of d is uniform in [-r, r], in pixels before normalisation.
    Class and randomness of the method stay the same. The norm is

    - ``l2``: the Euclidean norm of the maps' difference, which grows with their size and scale;
    - ``relative``: that divided by ||E(x)||;
    - ``rms``: the root mean square of the difference of the maps, each divided by its largest absolute value.

    Values of different norms cannot be compared. All radii share their directions: ``radius=0.05|0.1|0.2`` is a curve.

    Undefined: ``non_finite_map`` where a map of a changed image is not finite. Maps that are constant and stay the same
    have 0. ``relative`` is ``zero_energy`` where E(x) is 0 everywhere and another map is not; captum divides by 1
    there.
    Errata: eq. 16 names neither the norm nor the scale of the maps. The authors' table holds values of the order of
    ``rms``, not of ``l2``.
    """

    name = "max-sensitivity"
    family = "sensitivity"
    needs = frozenset({"model", "method", "image", "target"})
    higher_is_better = False
    bounds = (0.0, np.inf)
    sweep: ClassVar = {"norm": NORMS}
    scales: ClassVar = {"demo": {"samples": 5}, "small": {"samples": 10}}
    reference = (
        "Yeh et al. 2019, On the (in)fidelity and sensitivity of explanations, doi:10.48550/arXiv.1901.09392; Li et "
        "al. 2020, eq. 16, doi:10.48550/arXiv.2012.15616"
    )

    radius: float = param(0.2, "r: the largest change of a pixel's value", low=0.0)
    samples: int = param(50, "n: how many changed images are explained", low=1)
    norm: str = param("l2", "how the difference of two maps is measured", choices=NORMS)
    clip: bool = param(False, "whether changed pixels are kept in [0, 1], where the images must be then")

    def measure(self, data: MetricInputs) -> Measured:
        """From 0; the three norms share the maps."""
        key = (self.name, self.radius, self.samples, self.clip)
        largest, finite = data.cached(key, lambda: self._largest(data))
        values = np.where(finite, largest[self.norm], np.nan)
        undefined = np.where(finite, np.where(np.isnan(values), ZERO_ENERGY, ""), NON_FINITE_MAP)
        return values, undefined.tolist()

    def _largest(self, data: MetricInputs) -> tuple[dict[str, Float64], Any]:
        """The largest change of each map (N,) under each norm, and whether all of its maps are finite, bool (N,)."""
        start = _flat(data.explained(data.images, data.targets))
        finite = np.isfinite(start).all(axis=1)
        largest = dict.fromkeys(NORMS, np.zeros(len(start)))
        for pixels in self._changed(data):
            moved = _flat(data.explained(pixels, data.targets))
            finite &= np.isfinite(moved).all(axis=1)
            with np.errstate(invalid="ignore"):  # maps may be infinite
                largest = {norm: np.maximum(largest[norm], DISTANCES[norm](start, moved)) for norm in NORMS}
        return largest, finite

    def _changed(self, data: MetricInputs) -> Iterator[Float32]:
        """The images (N, C, H, W) with each draw added."""
        images = data.images
        assert images is not None  # the metric's `needs` names it
        if self.clip and len(images) and not (images.min() >= 0 and images.max() <= 1):
            raise SalgenError(
                f"{self.name}: clip is for images in [0, 1]: these go from {images.min():g} to {images.max():g}; "
                "leave it out"
            )
        streams, size = data.streams(self.name), images[0].size
        for _ in range(self.samples):
            unit = np.stack([stream.uniform(size, -1.0, 1.0) for stream in streams]).reshape(images.shape)
            pixels = (images + self.radius * unit).astype(np.float32)
            yield np.clip(pixels, 0.0, 1.0) if self.clip else pixels


def _flat(maps: Values) -> Float64:
    return maps.reshape(len(maps), -1).astype(np.float64)


def _l2(start: Float64, moved: Float64) -> Float64:
    return np.asarray(np.linalg.norm(moved - start, axis=1))


def _relative(start: Float64, moved: Float64) -> Float64:
    """The change relative to the map's norm; NaN where a map of zeros changed."""
    change, size = _l2(start, moved), np.linalg.norm(start, axis=1)
    return np.asarray(np.divide(change, size, out=np.where(change > 0, np.nan, 0.0), where=size > 0))


def _scaled(maps: Float64) -> Float64:
    """Each map divided by its largest absolute value; zeros stay zeros."""
    top = np.abs(maps).max(axis=1, keepdims=True)
    return np.asarray(np.divide(maps, top, out=np.zeros_like(maps), where=top > 0))


DISTANCES: dict[str, Callable[[Float64, Float64], Float64]] = {
    "l2": _l2,
    "relative": _relative,
    "rms": lambda start, moved: _l2(_scaled(start), _scaled(moved)) / math.sqrt(start.shape[1]),
}


@dataclass(frozen=True)
class ClassSensitivity(ModelMetric):
    """Correlation of the maps of the model's most and least likely class: low for a method that tells classes apart.

    Pearson(E_argmax, E_argmin) over all pixels of the method's maps, neither clipped nor scaled. Both maps share the
    method's randomness. Methods that ignore the class have 1.

    Ties: of equal logits the class with the smallest number counts.
    Undefined: ``non_finite_map`` where one of the two maps is not finite. Where one is constant, the value is 0 with
    the reason ``constant_map``.
    """

    name = "class-sensitivity"
    family = "sensitivity"
    needs = frozenset({"model", "method", "image", "target"})
    higher_is_better = False
    bounds = (-1.0, 1.0)
    reference = "Li et al. 2020, class sensitivity, doi:10.48550/arXiv.2012.15616"

    def measure(self, data: MetricInputs) -> Measured:
        """In [-1, 1]."""
        # probabilities would tie where the softmax runs out of digits
        logits = data.predictor.original_logits.double().cpu().numpy()
        if logits.shape[1] < 2:
            raise SalgenError(f"{self.name} compares the maps of two classes: the model has one logit")
        most, least = (
            data.explained(data.images, classes) for classes in (logits.argmax(axis=1), logits.argmin(axis=1))
        )
        results = [_correlation(first, second) for first, second in zip(most, least, strict=True)]
        return np.array([value for value, _ in results], dtype=np.float64), [reason for _, reason in results]


def _correlation(first: Values, second: Values) -> tuple[float, str]:
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return np.nan, NON_FINITE_MAP
    value = pearson(first, second)
    return (0.0, CONSTANT_MAP) if np.isnan(value) else (value, "")
