"""The dependence of a map on the class that it explains."""

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.map_similarity import pearson
from salgen.evaluation.metrics.inputs.metric import CONSTANT_MAP, NON_FINITE_MAP, Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values

NAMES = ("class-sensitivity",)


@dataclass(frozen=True)
class ClassSensitivity(ModelMetric):
    """Correlation of the maps of the model's most and least likely class: low for a method that tells classes apart.

    Pearson(E_argmax, E_argmin) over all pixels of the method's maps, neither clipped nor scaled. Both maps share the
    method's randomness. Methods that ignore the class have 1.

    Ties: of equal logits the class with the smallest number counts.
    Undefined: ``non_finite_map`` where one of the two maps is not finite. Where one is constant, the value is 0 with
    the reason ``constant_map``.
    """

    name: ClassVar[str] = "class-sensitivity"
    family: ClassVar[str] = "sensitivity"
    needs: ClassVar[frozenset[str]] = frozenset({"model", "method", "image", "target"})
    higher_is_better: ClassVar[bool | None] = False
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    reference: ClassVar[str] = "Li et al. 2020, class sensitivity, doi:10.48550/arXiv.2012.15616"

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
