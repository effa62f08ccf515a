"""Statements about means: normalised scores, ranks over metrics, and a model against chance."""

import numpy as np
from numpy.typing import NDArray

from salgen.evaluation.statistics.mean_intervals import LEVEL
from salgen.evaluation.statistics.tolerance import differences
from salgen.types import Float64

CHANCE_ALPHA = 0.01


def normalised(score: Float64, random: Float64, oracle: Float64, direction: Float64 | float = 1.0) -> Float64:
    """(score - random) / (oracle - random): 0 is a random map, 1 is the mask itself.

    Parameters
    ----------
    score, random, oracle
        float64 (..., S, N): a method's values and those of the two controls, on the same samples.
    direction
        1 where a high value is good, -1 where a low one is, NaN for a diagnostic; as (...) or one that
        broadcasts to it.

    Returns
    -------
    float64 (...): from the means over the values where all three are defined. NaN where there are none,
    where the oracle is no better than chance, and for a diagnostic, under which nothing is better.
    """
    score, random, oracle = np.broadcast_arrays(score, random, oracle)
    common = np.isfinite(score) & np.isfinite(random) & np.isfinite(oracle)
    count = np.maximum(common.sum(axis=(-2, -1)), 1)
    s, r, o = (np.where(common, array, 0.0).sum(axis=(-2, -1)) / count for array in (score, random, oracle))
    span = differences(o, r)
    usable = np.where(direction * span > 0, span, np.nan)
    return np.asarray((s - r) / usable, dtype=np.float64)


def mean_ranks(scores: Float64, higher_is_better: NDArray[np.bool_]) -> Float64:
    """Mean over metrics of each method's rank; 1 is best and ties share the mean of their ranks.

    Parameters
    ----------
    scores
        float64 (methods, metrics). A NaN ranks last; a metric that is NaN for every method does not count.
    higher_is_better
        bool (metrics,).
    """
    from scipy.stats import rankdata

    better_is_less = np.where(higher_is_better, -scores, scores)
    has_scores = ~np.isnan(scores).all(axis=0)
    if not has_scores.any():
        return np.full(len(scores), np.nan)
    ranks = rankdata(np.where(np.isnan(better_is_less), np.inf, better_is_less)[:, has_scores], axis=0)
    return np.asarray(ranks.mean(axis=1), dtype=np.float64)


def accuracy_interval(accuracy: float, count: int) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of an accuracy measured on `count` images."""
    from scipy.stats import binomtest

    ends = binomtest(round(accuracy * count), count).proportion_ci(LEVEL)
    return float(ends.low), float(ends.high)


def near_chance(accuracy: float, chance: float) -> bool:
    """True if a model has learnt too little for its maps to mean anything: less than halfway from chance to 1.

    Above that, `too_few_to_tell` says whether the accuracy on few images may be luck.
    """
    return bool(accuracy <= chance or accuracy < (1.0 + chance) / 2.0)


def too_few_to_tell(accuracy: float, count: int, chance: float) -> bool:
    """True if an accuracy is far above chance, but on so few images that it may be luck.

    That is, a model is not near chance, and an exact binomial test at 1 % does not find it above chance.
    """
    from scipy.stats import binomtest

    if near_chance(accuracy, chance):
        return False
    above = binomtest(round(accuracy * count), count, chance, alternative="greater")
    return bool(above.pvalue >= CHANCE_ALPHA)
