"""Symmetric relevance gain: the area between two curves of pixels that are taken out."""

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from salgen.evaluation.metrics.inputs.metric import Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.insertion import DELETED, REFERENCES, deletion_curve, insertion_curve, step_param
from salgen.parameters import param

NAMES = ("srg",)

IMAGES = tuple(kind for kind in REFERENCES if kind != "twin")


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

    name: ClassVar[str] = "srg"
    in_all: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    reference: ClassVar[str] = (
        "Blücher et al. 2024, Decoupling pixel flipping and occlusion strategy for consistent XAI benchmarks, "
        "doi:10.48550/arXiv.2401.06654"
    )

    step: int | None = step_param()
    baseline: str = param(DELETED, "what pixels become", choices=IMAGES)

    def measure(self, data: MetricInputs) -> Measured:
        """In [-1, 1]."""
        kept = insertion_curve(data, self.baseline, self.step)
        lost = deletion_curve(data, self.baseline, self.step)
        gain = kept - lost
        return np.asarray((gain[:, :-1] + gain[:, 1:]).mean(axis=1) / 2), [""] * len(data)
