"""F-Fidelity: what pixels decide for a model that has learnt to do without some."""

from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import RetrainingMetric
from salgen.parameters import param


@dataclass(frozen=True)
class FidelityPlus(RetrainingMetric):
    """How much less often a model that knows missing pixels is right without some of those that a map ranks highest.

    A fresh model is trained as the first was, plainly, on images that lack a share `missing` of their pixels, drawn at
    each step. All methods share it. Of the `fraction` of pixels that the map ranks highest a random half is taken away,
    at most `missing` of the image. The value is 1 if the model is right on the image, less the share of `draws` without
    these pixels on which it is right. Missing pixels have the image's mean colour. The authors train the first model
    further, and missing pixels are black.

    Ties: tied pixels are taken in a random order that is drawn once for each image.
    Undefined: ``non_finite_map`` where a map is not finite.
    """

    name = "f-fidelity-plus"
    bounds = (-1.0, 1.0)
    scales: ClassVar = {"demo": {"draws": 10}, "small": {"draws": 20}}
    of_top = True
    in_all = False
    reference = (
        "Zheng et al. 2025, F-Fidelity: a robust framework for faithfulness evaluation of explainable AI, "
        "doi:10.48550/arXiv.2410.02970"
    )

    fraction: float = param(0.2, "share of the pixels that are the map's explanation", low=0.0, high=1.0)
    missing: float = param(
        0.1, "share of pixels that images lack in training, and at most afterwards", low=0.0, high=1.0
    )
    draws: int = param(50, "draws of the pixels that are taken away", low=1)


@dataclass(frozen=True)
class FidelityMinus(FidelityPlus):
    """How much less often a model that knows missing pixels is right without some of those that a map ranks lowest.

    As `f-fidelity-plus`, but pixels are taken from the others than the `fraction` that the map ranks highest.

    Ties: as in `f-fidelity-plus`.
    Undefined: as in `f-fidelity-plus`.
    """

    name = "f-fidelity-minus"
    higher_is_better = False
    of_top = False
