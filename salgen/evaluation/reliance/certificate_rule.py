"""Does a model rely on the feature? The verdict on one sample, from the model's logits.

The sample is shown without its features, and with them on other backgrounds: redrawn with a twin each, and composed of
feature and other background. Shifts of the margin, the class's logit less the best other, are shares of the feature's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.types import Float64

REDRAWS = {"demo": 8, "small": 8, "full": 59}  # scale to redraws of a sample
TOLERATED = 0.25  # shift of the margin by a background, as a share of the feature's effect
EXCEPTED = 0.25  # share of the redraws that may fail
STEP = 0.1  # share of the way from the feature to its twin, or from the background to another one
NEGLIGIBLE = 0.04  # a step of the feature counts as this share of an even step at least
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Answers:
    """A model's logits for one sample, shown in several ways."""

    sample: Float64  # float64 (K,): as it is
    twin: Float64 | None  # float64 (K,): as its counterfactual twin; None where it has none
    feature_step: Float64  # float64 (K,): a step of the way from the sample to its twin
    redraws: Float64  # float64 (R, K): on other backgrounds
    redraw_twins: Float64  # float64 (R, K): the twins of these
    held: Float64  # float64 (R, K): the sample's feature, pixel by pixel, on these twins
    background_step: Float64  # float64 (R, K): a step of the way from the sample to `held`
    without: Mapping[str, Float64]  # feature to float64 (K,): with that feature left out, and no other
    # float64 (R, K): on the other backgrounds, with the feature elsewhere; None where it cannot be moved
    moved: Float64 | None = None
    moved_twins: Float64 | None = None  # float64 (R, K): the twins of these

    def about(self, target: int) -> Answers:
        """A multi-label model's answers about one label: logits (2,) for absent and present."""

        def pair(logits: Float64) -> Float64:
            return np.stack([np.zeros_like(logits[..., target]), logits[..., target]], axis=-1)

        arrays = {name: pair(logits) for name, logits in vars(self).items() if isinstance(logits, np.ndarray)}
        return replace(self, **arrays, without={feature: pair(logits) for feature, logits in self.without.items()})


@dataclass(frozen=True)
class Certificate:
    """The verdict on one sample, as ``certificates.parquet`` holds it.

    Without a twin, verdicts are None and numbers that need one are NaN. A background's effect is the largest on three
    quarters of the redraws, as a share of the feature's effect.
    """

    correct: bool  # whether the sample is classified correctly
    # `correct`, and the class is no longer predicted on the twin; of more than two classes also where its margin falls
    # to a quarter or less
    uses_feature: bool | None
    ignores_background: bool | None  # whether `tolerance` is at most a quarter
    certified: bool | None  # whether both hold
    margin: float  # the logit of the explained class minus the largest other one
    feature_effect: float  # the distance between the margins of the sample and its twin
    # the effect of another background without the feature: the shift from the twin to a redraw's twin
    background_effect: float
    # the effect of another background while the feature's pixels are held: the shift from the sample to its feature on
    # a redraw's twin
    held_effect: float
    # the shift by a tenth of the way to that image, as a share of the shift by a tenth of the way to the twin
    step_effect: float
    # the largest distance between the margins of the sample and of a redraw: what the background does together with
    # what it does to the feature, such as its contrast
    contrast_effect: float
    # the largest of the first two effects and half of the third; infinite if on more than a quarter of the redraws
    # another class is predicted, or the class is not given up on the redraw's twin
    tolerance: float
    # share of the backgrounds on which, with the feature elsewhere, the predicted class is the sample's true one, and
    # is given up without it; NaN too where the feature cannot be moved
    holds_elsewhere: float
    features: list[str]  # the features that were left out one by one
    needed_features: list[str]  # those without which the class of a correct prediction is given up
    # for each feature, how far the margin moves without it towards that on the twin, as a share of the whole way; NaN
    # too where that is zero. Shares of features that can stand in for one another add up to less than 1, of features
    # that are needed together to more
    feature_shares: list[float]


def certificate_of(answers: Answers, label: int, target: int) -> Certificate:
    """The verdict on one sample, whose true class is `label`; maps explain the class `target`."""

    def effect_of(shown: Float64, start: float, by: float) -> float:
        """The usual shift of the margin, as a share."""
        shift = _usual(np.abs(_margin(shown, target) - start))
        return shift / by if by else math.inf

    predicted, own = int(answers.sample.argmax()), float(_margin(answers.sample, target))
    correct = predicted == label
    effect, background, held, step, tolerance, elsewhere = (math.nan,) * 6
    uses, ignores = None, None
    if answers.twin is not None:
        twin = float(_margin(answers.twin, target))
        effect = own - twin
        step_of_feature = abs(own - float(_margin(answers.feature_step, target)))
        background = effect_of(answers.redraw_twins, twin, abs(effect))
        held = effect_of(answers.held, own, abs(effect))
        step = effect_of(answers.background_step, own, max(step_of_feature, NEGLIGIBLE * STEP * abs(effect)))
        given_up = _given_up(predicted, answers.redraws, answers.redraw_twins)
        holds = (answers.redraws.argmax(axis=1) == predicted) & given_up
        tolerance = math.inf if _usual(~holds) else max(background, held, step / 2)
        uses = correct and bool(_given_up(predicted, answers.sample, answers.twin))
        ignores = tolerance <= TOLERATED
        if answers.moved is not None and answers.moved_twins is not None:
            right = answers.moved.argmax(axis=1) == label
            elsewhere = float((right & _given_up(label, answers.moved, answers.moved_twins)).mean())
    needed = [name for name, logits in answers.without.items() if _given_up(predicted, answers.sample, logits)]
    falls = [own - float(_margin(logits, target)) for logits in answers.without.values()]
    return Certificate(
        correct=correct,
        uses_feature=uses,
        ignores_background=ignores,
        certified=None if uses is None or ignores is None else uses and ignores,
        margin=own,
        feature_effect=abs(effect),
        background_effect=background,
        held_effect=held,
        step_effect=step,
        contrast_effect=float(np.abs(_margin(answers.redraws, target) - own).max()),
        tolerance=tolerance,
        holds_elsewhere=elsewhere,
        features=[*answers.without],
        needed_features=needed if correct else [],
        feature_shares=[fall / effect if effect else math.nan for fall in falls],
    )


def _margin(logits: Float64, target: int) -> Float64:
    """The target's logit minus the largest other one, (...) of logits (..., K)."""
    return np.asarray(logits[..., target] - np.delete(logits, target, axis=-1).max(axis=-1))


def _usual(values: NDArray[Any]) -> float:
    """The least value that at most a quarter of the redraws exceed."""
    return float(np.sort(values)[-1 - int(EXCEPTED * len(values))])


def _given_up(target: int, shown: Float64, without: Float64) -> NDArray[np.bool_]:
    """Whether a class that is predicted with the feature is given up without it, bool (...) of logits (..., K)."""
    most = TOLERATED * _margin(shown, target) if shown.shape[-1] > 2 else 0.0
    return np.asarray(_margin(without, target) <= most)


def most_faulty(redraws: int) -> float:
    """The share of all redraws that may fail, at 95 % confidence, where at most a quarter of so many did.

    Examples
    --------
    >>> round(most_faulty(8), 2), round(most_faulty(59), 2)
    (0.6, 0.35)
    """
    from scipy.stats import beta

    failed = int(EXCEPTED * redraws)
    return float(beta.ppf(CONFIDENCE, failed + 1, redraws - failed))
