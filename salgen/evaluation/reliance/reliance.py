"""Does a model rely on the feature, and on nothing else? The verdict on one sample, from the model's answers.

The sample is shown again in three ways: as its twin, without each of its features alone, and with the feature on other
backgrounds, each beside its own twin. A twin is the background that remains when the feature is gone: what changes
between twins is what the background does. The question is asked of the number that maps explain, the logit of the
explained class or its margin over the best other one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from salgen.types import Float64

REDRAWS = {"demo": 8, "small": 8, "full": 59}  # scale to redraws of a sample
TOLERATED = 0.25  # of what the feature moves the score, a background may move it
CONFIDENCE = 0.95


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
    redraw_twins
        float64 (R, K): the twins of these; None where it has none.
    without
        Feature to float64 (K,): with that feature left out, and no other.
    moved
        float64 (R, K): on the other backgrounds, with the feature elsewhere; None where it cannot be moved.
    moved_twins
        float64 (R, K): the twins of these; None where they have none.
    """

    sample: Float64
    twin: Float64 | None
    redraws: Float64
    redraw_twins: Float64 | None
    without: Mapping[str, Float64]
    moved: Float64 | None = None
    moved_twins: Float64 | None = None

    def about(self, target: int) -> Answers:
        """A multi-label model's answers about one label: logits (2,) for absent and present."""

        def pair(logits: Float64) -> Float64:
            return np.stack([np.zeros_like(logits[..., target]), logits[..., target]], axis=-1)

        def optional(logits: Float64 | None) -> Float64 | None:
            return None if logits is None else pair(logits)

        return Answers(
            sample=pair(self.sample),
            twin=optional(self.twin),
            redraws=pair(self.redraws),
            redraw_twins=optional(self.redraw_twins),
            without={feature: pair(logits) for feature, logits in self.without.items()},
            moved=optional(self.moved),
            moved_twins=optional(self.moved_twins),
        )


@dataclass(frozen=True)
class Certificate:
    """The verdict on one sample, as ``certificates.parquet`` holds it.

    Attributes
    ----------
    correct
        Whether the sample is classified rightly.
    uses_feature
        Whether it is, and its class is given up on the twin; None without a twin. A class is given up if another one is
        predicted, or if its probability falls from above one half to one half at most: where the twin shows none of
        several classes, which one is predicted says nothing.
    ignores_background
        Whether `tolerance` is at most a quarter; None without a twin.
    certified
        Whether both hold; None without a twin.
    score
        The explained score: the logit of the explained class, or its margin over the best other one.
    feature_effect
        The distance of the score from that on the twin; NaN without a twin.
    background_effect
        The largest distance between the scores of the twin and of a redraw's twin; NaN without a twin.
    contrast_effect
        The largest distance between the scores of the sample and of a redraw: what the background does together with
        what it does to the feature, such as its contrast.
    tolerance
        `background_effect` as a share of `feature_effect`; infinite if the predicted class of a redraw is another one,
        or is not given up on a redraw's twin; NaN without a twin.
    holds_elsewhere
        Share of the backgrounds on which, with the feature elsewhere, the predicted class is the sample's true one, and
        is given up without it; NaN without a twin, or where the feature cannot be moved.
    features
        The features that were left out one by one.
    needed_features
        Those without which the class of a right prediction is given up.
    feature_shares
        For each feature, how far the score moves without it towards that on the twin, as a share of
        the whole way; NaN where that is zero or there is no twin. Shares of features that can stand in
        for one another add up to less than 1, of features that are needed together to more.
    """

    correct: bool
    uses_feature: bool | None
    ignores_background: bool | None
    certified: bool | None
    score: float
    feature_effect: float
    background_effect: float
    contrast_effect: float
    tolerance: float
    holds_elsewhere: float
    features: list[str]
    needed_features: list[str]
    feature_shares: list[float]


def certificate_of(answers: Answers, label: int, target: int, score: str = "logit") -> Certificate:
    """The verdict on one sample.

    Parameters
    ----------
    label, target
        The true class, and the one that is explained.
    score
        The explained score: ``"logit"`` of the target, or its ``"margin"`` over the best other class.
    """

    def scored(logits: Float64) -> Float64:
        others = np.delete(logits, target, axis=-1).max(axis=-1) if score == "margin" else 0.0
        return np.asarray(logits[..., target] - others)

    predicted = int(answers.sample.argmax())
    own, falls = float(scored(answers.sample)), [scored(logits) for logits in answers.without.values()]
    effect, background, tolerance, uses, ignores = math.nan, math.nan, math.nan, None, None
    correct = predicted == label
    if answers.twin is not None and answers.redraw_twins is not None:
        twin = float(scored(answers.twin))
        effect = own - twin
        background = float(np.abs(scored(answers.redraw_twins) - twin).max())
        holds = (answers.redraws.argmax(axis=1) == predicted).all()
        needed_there = _given_up(predicted, answers.redraws, answers.redraw_twins).all()
        tolerance = background / abs(effect) if holds and needed_there and effect else math.inf
        uses = correct and bool(_given_up(predicted, answers.sample, answers.twin))
        ignores = tolerance <= TOLERATED
    elsewhere = math.nan
    if answers.moved is not None and answers.moved_twins is not None:
        right = answers.moved.argmax(axis=1) == label
        elsewhere = float((right & _given_up(label, answers.moved, answers.moved_twins)).mean())
    needed = [name for name, logits in answers.without.items() if _given_up(predicted, answers.sample, logits)]
    return Certificate(
        correct=correct,
        uses_feature=uses,
        ignores_background=ignores,
        certified=None if uses is None or ignores is None else uses and ignores,
        score=own,
        feature_effect=abs(effect),
        background_effect=background,
        contrast_effect=float(np.abs(scored(answers.redraws) - own).max()),
        tolerance=tolerance,
        holds_elsewhere=elsewhere,
        features=[*answers.without],
        needed_features=needed if correct else [],
        feature_shares=[float(own - fall) / effect if effect else math.nan for fall in falls],
    )


def _given_up(target: int, shown: Float64, without: Float64) -> NDArray[np.bool_]:
    """Whether a class that is predicted with the feature is given up without it, bool (...) of logits (..., K)."""

    def likely(logits: Float64) -> NDArray[np.bool_]:
        """Whether its probability is above one half."""
        return np.asarray(logits[..., target] > np.logaddexp.reduce(np.delete(logits, target, axis=-1), axis=-1))

    return np.asarray((without.argmax(axis=-1) != target) | (likely(shown) & ~likely(without)))


def most_faulty(redraws: int) -> float:
    """The share of a sample's redraws that may be faulty, at 95 % confidence, where none of so many was.

    Examples
    --------
    >>> round(most_faulty(8), 2), round(most_faulty(59), 3)
    (0.31, 0.05)
    """
    return float(1.0 - (1.0 - CONFIDENCE) ** (1.0 / redraws))
