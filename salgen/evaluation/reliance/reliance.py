"""Does a model rely on the feature, and on nothing else? The verdict on one sample, from the model's answers.

The sample is shown again in three ways, each with all else fixed: as its twin, on other backgrounds, and
without each of its features alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from salgen.types import Float64

REDRAWS = 8
TOLERATED = 0.25  # of what the feature moves the margin, a background may move it


@dataclass(frozen=True)
class Answers:
    """A model's logits for one sample, shown in several ways.

    Attributes
    ----------
    sample
        float64 (K,): as it is.
    twin
        float64 (K,): as its counterfactual twin; None where it has none.
    redraws
        float64 (R, K): on other backgrounds.
    without
        Feature to float64 (K,): with that feature left out, and no other.
    """

    sample: Float64
    twin: Float64 | None
    redraws: Float64
    without: Mapping[str, Float64]

    def about(self, target: int) -> Answers:
        """A multi-label model's answers about one label: logits (2,) for absent and present."""

        def pair(logits: Float64) -> Float64:
            return np.stack([np.zeros_like(logits[..., target]), logits[..., target]], axis=-1)

        without = {feature: pair(logits) for feature, logits in self.without.items()}
        return Answers(pair(self.sample), None if self.twin is None else pair(self.twin), pair(self.redraws), without)


@dataclass(frozen=True)
class Certificate:
    """The verdict on one sample, as ``certificates.parquet`` holds it.

    Attributes
    ----------
    correct
        Whether the sample is classified rightly.
    uses_feature
        Whether it is, and the predicted class is another on the twin; None without a twin.
    ignores_background
        Whether on every redrawn background the predicted class is the same, and the margin is at most
        a quarter of `feature_effect` away; None without a twin.
    certified
        Whether both hold; None without a twin.
    margin
        Logit of the explained class minus the best other.
    feature_effect
        The distance of the margin from that on the twin; NaN without a twin.
    background_effect
        The largest distance of the margin on a redrawn background.
    features
        The features that were left out one by one.
    needed_features
        Those without which a right prediction becomes another.
    feature_shares
        For each feature, how far the margin moves without it towards that on the twin, as a share of
        the whole way; NaN where that is zero or there is no twin. Shares of features that can stand in
        for one another add up to less than 1, of features that are needed together to more.
    """

    correct: bool
    uses_feature: bool | None
    ignores_background: bool | None
    certified: bool | None
    margin: float
    feature_effect: float
    background_effect: float
    features: list[str]
    needed_features: list[str]
    feature_shares: list[float]


def certificate_of(answers: Answers, label: int, target: int) -> Certificate:
    """The verdict on one sample.

    Parameters
    ----------
    label, target
        The true class, and the one whose margin is looked at.
    """
    predicted = int(answers.sample.argmax())
    margin = margin_of(answers.sample, target)
    background = max(abs(margin_of(logits, target) - margin) for logits in answers.redraws)
    way = math.nan if answers.twin is None else margin - margin_of(answers.twin, target)
    falls = [margin - margin_of(logits, target) for logits in answers.without.values()]
    flips = [name for name, logits in answers.without.items() if logits.argmax() != predicted]
    correct, uses, ignores = predicted == label, None, None
    if answers.twin is not None:
        uses = correct and bool(answers.twin.argmax() != predicted)
        holds = bool((answers.redraws.argmax(axis=1) == predicted).all())
        ignores = holds and background <= TOLERATED * abs(way)
    return Certificate(
        correct=correct,
        uses_feature=uses,
        ignores_background=ignores,
        certified=None if uses is None or ignores is None else uses and ignores,
        margin=margin,
        feature_effect=abs(way),
        background_effect=background,
        features=[*answers.without],
        needed_features=flips if correct else [],
        feature_shares=[fall / way if way else math.nan for fall in falls],
    )


def margin_of(logits: Float64, target: int) -> float:
    """The logit of a class minus the best other, of float64 (K,) with K at least 2."""
    return float(logits[target] - np.delete(logits, target).max())
