"""Remove and retrain, keep and retrain."""

from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.inputs.metric import RetrainingMetric
from salgen.parameters import param


@dataclass(frozen=True)
class Roar(RetrainingMetric):
    """Accuracy after the pixels that a method ranks highest are removed everywhere and the model is trained again.

    In every image of all splits the `fraction` of largest pixels is set to the training images' mean colour. A fresh
    model is trained as the first was, with the same seed. In training for reliance an image's redraws and twins lose
    the same pixels. A test image has 1 if that model classifies it rightly, so the mean is its accuracy.

    Ties: tied pixels are taken in a random order that is drawn once for each image.
    Undefined: ``non_finite_map`` where a map is not finite; its image loses no pixel.
    """

    name = "roar"
    version = "2"
    higher_is_better = False
    sweep: ClassVar = {"fraction": (0.1, 0.3, 0.5, 0.7, 0.9)}
    keeps = False
    reference = (
        "Hooker et al. 2019, A benchmark for interpretability methods in deep neural networks, "
        "doi:10.48550/arXiv.1806.10758"
    )

    fraction: float = param(0.5, "share of each image's pixels that is removed", low=0.0, high=1.0)


@dataclass(frozen=True)
class Kar(Roar):
    """Accuracy after only the pixels that a method ranks highest are kept, and the model is trained again.

    As `roar`, but all other pixels are set to the mean colour.

    Ties: as in `roar`.
    Undefined: ``non_finite_map`` where a map is not finite; its image loses all pixels.
    """

    name = "kar"
    higher_is_better = True
    keeps = True

    fraction: float = param(0.5, "share of each image's pixels that is kept", low=0.0, high=1.0)
