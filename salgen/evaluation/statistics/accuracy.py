"""Accuracy: its interval, and whether it is above chance."""

from salgen.evaluation.statistics.mean_intervals import LEVEL

CHANCE_ALPHA = 0.01


def accuracy_interval(accuracy: float, count: int) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of an accuracy measured on `count` images."""
    from scipy.stats import binomtest

    ends = binomtest(round(accuracy * count), count).proportion_ci(LEVEL)
    return float(ends.low), float(ends.high)


def near_chance(accuracy: float, chance: float) -> bool:
    """True if a model has learnt too little for its maps to mean anything: less than halfway from chance to 1."""
    return bool(accuracy <= chance or accuracy < (1.0 + chance) / 2.0)


def too_few_to_tell(accuracy: float, count: int, chance: float) -> bool:
    """True if an accuracy is not near chance, but an exact binomial test at 1 % does not find it above chance."""
    from scipy.stats import binomtest

    if near_chance(accuracy, chance):
        return False
    return bool(binomtest(round(accuracy * count), count, chance, alternative="greater").pvalue >= CHANCE_ALPHA)
