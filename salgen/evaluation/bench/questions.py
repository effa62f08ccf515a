"""Three questions to the worlds of salgen-bench 2, which have different answers and are never mixed.

*These networks*: would the order stay with other images? *Another training*: with the same worlds trained again? *A new
world*: in a data set and network like these, of a family that is like these? What is sampled are clusters of images,
trainings, and families of worlds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import digamma, polygamma, stdtr, stdtrit
from scipy.stats import false_discovery_control
from salgen.evaluation.statistics.comparisons import holm
from salgen.types import Float64

LEVEL = 0.95  # intervals hold so often; tests err in the rest


@dataclass(frozen=True, eq=False)
class WorldScores:
    """Scores of methods in worlds, the higher the better."""

    methods: list[str]
    families: NDArray[np.int64]  # (W,): the number of each world's family
    clusters: NDArray[np.int64]  # (W,): how many clusters of images each world has
    means: Float64  # (W, M): the mean over clusters of images; NaN where a method is not defined
    noise: Float64  # (W, M, M): the covariance of these means, by images
    trainings: Float64  # (M, M): the variance of a pair's difference from training to training of a world
    trained_twice: NDArray[np.int64]  # (M, M): the worlds that tell it; where none does the variance is NaN

    @classmethod
    def of(cls, tables: Mapping[str, pd.DataFrame], families: Mapping[str, str]) -> WorldScores:
        """From tables, and the families of worlds, both by the worlds' names.

        A table has a column for each method, and a row for each training and cluster of images. The first training
        counts; a second one tells how much trainings differ.
        """
        methods = sorted({str(method) for table in tables.values() for method in table})
        trained = [
            [of.reindex(columns=methods).to_numpy(float) for _, of in table.groupby(level=0)]
            for table in tables.values()
        ]
        return cls.of_arrays(methods, [families[name] for name in tables], trained)

    @classmethod
    def of_arrays(cls, methods: list[str], families: ArrayLike, trained: Sequence[Sequence[Float64]]) -> WorldScores:
        """From the family of each world, and for each of its trainings an array, clusters by methods."""
        firsts = [first for first, *_ in trained]
        size = len(methods)
        twice = np.array(
            [np.full((size, size), np.nan), *(_training_variance(*two) for two in trained if len(two) == 2)]
        )
        return cls(
            methods,
            np.unique(families, return_inverse=True)[1],
            np.array([len(first) for first in firsts]),
            np.array([first.mean(axis=0) for first in firsts]),
            np.array([np.cov(first, rowvar=False) / len(first) for first in firsts]),
            defined_mean(twice, axis=0),
            (~np.isnan(twice)).sum(axis=0),
        )

    def only(self, methods: Collection[str]) -> WorldScores:
        """The scores of some of the methods."""
        of = [self.methods.index(method) for method in self.methods if method in methods]
        pairs = np.ix_(of, of)
        return replace(
            self,
            methods=[self.methods[i] for i in of],
            means=self.means[:, of],
            noise=self.noise[:, of][:, :, of],
            trainings=self.trainings[pairs],
            trained_twice=self.trained_twice[pairs],
        )


class Differences(NamedTuple):
    """Methods against each other: how far that of the row is better than that of the column, each (M, M)."""

    means: Float64
    errors: Float64  # standard errors of the means
    degrees: Float64  # Student's degrees of freedom

    @property
    def p_values(self) -> Float64:
        """Two-sided; NaN for a method against itself, and where two methods share too few worlds."""
        with np.errstate(invalid="ignore", divide="ignore"):
            p_values = 2 * stdtr(self.degrees, -np.abs(self.means / self.errors))
        return np.asarray(np.where(np.eye(len(p_values), dtype=bool), np.nan, p_values))

    def interval(self) -> tuple[Float64, Float64]:
        """The 95 % interval of each difference."""
        half = stdtrit(self.degrees, (1 + LEVEL) / 2) * self.errors
        return self.means - half, self.means + half


def _training_variance(first: Float64, second: Float64) -> Float64:
    """The variance of pairs' differences by training, (M, M), from two trainings on the same clusters (n, M).

    Half of the squared difference between both, less what the images account for; in one world it may be negative.
    """
    moved = _pairs(first - second)
    return np.asarray((moved.mean(axis=0) ** 2 - moved.var(axis=0, ddof=1) / len(moved)) / 2)


def these_networks(scores: WorldScores, *, trained_again: bool = False) -> Differences:
    """Differences in the worlds as they are, or if they were trained again.

    What is sampled are clusters of images, or these and trainings. Each world adds its own variance, and the variance
    by training is moderated by that of all pairs (Smyth 2004). Degrees of freedom are Satterthwaite's.
    """
    of_pairs = _pairs(scores.means)
    known = ~np.isnan(of_pairs)
    variance = np.diagonal(scores.noise, axis1=1, axis2=2)
    noise = np.where(known, variance[:, :, None] + variance[:, None, :] - 2 * scores.noise, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = noise / known.sum(axis=0) ** 2
        total, squares = parts.sum(axis=0), (parts**2 / (scores.clusters - 1)[:, None, None]).sum(axis=0)
        if trained_again:
            by_training, degrees = moderated(np.maximum(scores.trainings, 0.0), scores.trained_twice)
            part = by_training / known.sum(axis=0)
            total, squares = total + part, squares + part**2 / degrees
        return Differences(defined_mean(of_pairs, axis=0), np.sqrt(total), total**2 / squares)


def new_world(scores: WorldScores) -> Differences:
    """Differences in worlds of other families; what is sampled are families.

    A family's worlds count as one: Student's test over the means of families, whose variances are moderated by those of
    all pairs (Smyth 2004).
    """
    of_families = family_means(_pairs(scores.means), scores.families)
    count = (~np.isnan(of_families)).sum(axis=0)
    means = defined_mean(of_families, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        variances, degrees = moderated(np.nansum((of_families - means) ** 2, axis=0) / (count - 1), count - 1)
        errors = np.sqrt(variances / count)
    return Differences(means, errors, degrees)


def family_means(values: Float64, families: NDArray[np.int64]) -> Float64:
    """The mean over the worlds of each family, the first axis; NaN where none has a value."""
    return np.array([defined_mean(values[families == family], axis=0) for family in range(families.max() + 1)])


def _pairs(values: Float64) -> Float64:
    """Differences of columns, (W, M) to (W, M, M)."""
    return values[:, :, None] - values[:, None, :]


def moderated(variances: Float64, degrees: NDArray[np.int64]) -> tuple[Float64, Float64]:
    """The variances of pairs, (M, M), moderated by those of all pairs, and their degrees of freedom.

    NaN where a pair has no degree of freedom of its own.
    """
    own = np.where(degrees > 0, degrees, np.nan)
    upper = np.triu_indices(len(variances), 1)
    prior, of_prior = moderation(variances[upper], own[upper])
    drawn = (of_prior * prior + own * variances) / (of_prior + own) if np.isfinite(of_prior) else prior
    return np.asarray(np.where(np.isnan(own), np.nan, drawn)), own + of_prior


def moderation(variances: Float64, degrees: Float64) -> tuple[float, float]:
    """The prior variance of pairs and its degrees of freedom, from 0 (below three pairs) to infinity.

    Smyth 2004, section 6.2.
    """
    usable = (variances > 0) & np.isfinite(degrees)
    if usable.sum() < 3:
        return 0.0, 0.0
    logs, half = np.log(variances[usable]), degrees[usable] / 2
    centred = logs - digamma(half) + np.log(half)
    excess = centred.var(ddof=1) - polygamma(1, half).mean()
    if excess <= 0:
        return float(np.exp(centred.mean())), np.inf
    half_prior = brentq(lambda x: polygamma(1, x) - excess, 1e-6, 1e9)
    return float(np.exp(centred.mean() + digamma(half_prior) - np.log(half_prior))), 2 * half_prior


def decided(p_values: Float64, *, false_discoveries: bool, level: float = 1 - LEVEL) -> NDArray[np.bool_]:
    """The pairs that differ, bool (M, M): by Holm, or at a rate of false discoveries (Benjamini and Hochberg 1995)."""
    upper = np.triu_indices(len(p_values), 1)
    tested = ~np.isnan(p_values[upper])
    corrected = np.ones(len(tested))
    correct = false_discovery_control if false_discoveries else holm
    corrected[tested] = correct(p_values[upper][tested])
    found = np.zeros(p_values.shape, dtype=bool)
    found[upper] = corrected <= level
    return found | found.T


def confirmed(scores: WorldScores) -> float:
    """Of the pairs that all families but one decide for a new world, the share that the other one orders alike."""
    alike = []
    for family in range(scores.families.max() + 1):
        others = scores.families != family
        numbers = np.unique(scores.families[others], return_inverse=True)[1]
        found = new_world(replace(scores, families=numbers, means=scores.means[others]))
        (own,) = family_means(_pairs(scores.means[~others]), np.zeros((~others).sum(), dtype=np.int64))
        pairs = np.triu(decided(found.p_values, false_discoveries=True), 1) & ~np.isnan(own)
        alike.append((np.sign(own) == np.sign(found.means))[pairs])
    together = np.concatenate(alike)
    return float(together.mean()) if len(together) else np.nan


def reliability(scores: WorldScores) -> float:
    """How much of the variance between methods' means over families would be found again in other families, up to 1.

    Of methods that are defined in all worlds: 1 less the mean square of method by family over that of methods (Hoyt
    1941, which is Cronbach's alpha over families).
    """
    table = family_means(scores.means[:, ~np.isnan(scores.means).any(axis=0)], scores.families)
    families, methods = table.shape
    of_methods = table.mean(axis=0)
    rest = table - of_methods - table.mean(axis=1, keepdims=True) + table.mean()
    square = families * ((of_methods - of_methods.mean()) ** 2).sum() / (methods - 1)
    return float(1 - (rest**2).sum() / ((methods - 1) * (families - 1)) / square)


def student_interval(values: Float64) -> tuple[Float64, Float64, Float64]:
    """The mean over the first axis, and its 95 % interval; NaN where nothing is defined, or once."""
    defined, mean = ~np.isnan(values), defined_mean(values, axis=0)
    count = defined.sum(axis=0)
    degrees = np.where(count > 1, count - 1.0, np.nan)
    variance = np.nansum((values - mean) ** 2, axis=0) / degrees
    half = stdtrit(degrees, (1 + LEVEL) / 2) * np.sqrt(variance / np.maximum(count, 1))
    return mean, mean - half, mean + half


def defined_mean(values: Float64, axis: int) -> Float64:
    """The mean of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis)
    return np.asarray(np.where(defined, values, 0.0).sum(axis=axis) / np.where(count > 0, count, np.nan))
