"""`comparisons.csv`: the differences between methods, their size, and their significance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
import numpy as np
from salgen.evaluation.statistics.comparison_groups import Family, Key
from salgen.evaluation.statistics.mean_intervals import LEAST_TRAININGS
from salgen.evaluation.statistics.permutation import ALPHA, sign_flip_p_values
from salgen.evaluation.statistics.tolerance import differences
from salgen.types import Float64

COMPARISONS = "comparisons.csv"


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same samples.

    Attributes
    ----------
    samples
        The choice of samples: ``"all"``, ``"correct"`` or ``"certified"`` ones.
    n_clusters, n_samples, n_trainings
        Number of clusters and of samples that have values, and of training seeds.
    difference
        Mean of a's score less b's, in the metric's units, a map that failed counted as the worst. Less
        than 0 is better for a where a low value is good.
    effect_size
        The mean of the differences over their standard deviation (Cohen's d_z); infinite where all are
        alike and not 0.
    win_share
        Share of samples on which a is better than b; a tie, where they differ by rounding alone, is half a win.
    p_value
        Of a two-sided sign-flip permutation test of the mean difference, about other clusters; with three trainings or
        more about other trainings too. NaN with fewer than six clusters, and with two trainings, which say too little
        about others.
    p_holm
        The same under Holm's correction over all pairs of the family: the methods under test and floors of one
        data set, model, metric and variant, on one choice of samples. Each region and each choice of
        samples is corrected for itself, not for the number of them that are read: decide by the headline one.
    higher_is_better
        The metric's direction.
    """

    samples: str
    model: str
    metric: str
    variant: str
    method_a: str
    reduction_a: str
    method_b: str
    reduction_b: str
    n_clusters: int
    n_samples: int
    n_trainings: int
    difference: float
    effect_size: float
    win_share: float
    p_value: float
    p_holm: float
    higher_is_better: bool

    @property
    def keys(self) -> tuple[Key, Key]:
        """The two methods."""
        return (self.method_a, self.reduction_a), (self.method_b, self.reduction_b)

    @property
    def better(self) -> Key | None:
        """The method with the better mean, by however little; None where they are equal."""
        if self.difference == 0:
            return None
        return self.keys[0 if (self.difference > 0) == self.higher_is_better else 1]

    def significant(self) -> bool:
        """True if the two differ, after Holm's correction."""
        return self.p_holm <= ALPHA

    def with_first(self, key: Key) -> Comparison:
        """The same test with this method of the two first."""
        if self.keys[0] == key:
            return self
        (a, of_a), (b, of_b) = self.keys
        turned = replace(self, method_a=b, reduction_a=of_b, method_b=a, reduction_b=of_a)
        wins = 1.0 - self.win_share
        return replace(turned, difference=-self.difference, effect_size=-self.effect_size, win_share=wins)


def compare_families(groups: Iterable[Family]) -> list[Comparison]:
    """All pairs of several families, each under a correction of its own alone; faster than one by one."""
    chosen = list(groups)
    p_values = sign_flip_p_values([group.sums for group in chosen], [group.noise for group in chosen])
    return [row for group, p in zip(chosen, p_values, strict=True) for row in _rows(group, p)]


def _rows(group: Family, p_values: Float64) -> Iterator[Comparison]:
    if 1 < group.trainings < LEAST_TRAININGS:
        p_values = np.full(len(p_values), np.nan)
    values = group.values[group.used]
    sizes = len(np.unique(group.clusters[group.used])), len(values), group.trainings
    columns = (*_effects(values, group.higher_is_better), p_values, holm(p_values))
    numbers = np.stack(columns, axis=1).tolist()
    for (a, b), (difference, effect, wins, p, corrected) in zip(combinations(group.keys, 2), numbers, strict=True):
        labels = group.samples, group.model, group.metric, group.variant, *a, *b
        yield Comparison(*labels, *sizes, difference, effect, wins, p, corrected, group.higher_is_better)


def _effects(values: Float64, higher: bool) -> tuple[Float64, Float64, Float64]:
    """Mean difference, d_z and win share of all pairs of columns (N, K)."""
    effects_of_pairs: list[tuple[Float64, Float64, Float64]] = []
    for index in range(values.shape[1] - 1):
        away = differences(values[:, index : index + 1], values[:, index + 1 :])
        wins = (away > 0 if higher else away < 0).mean(axis=0) + (away == 0).mean(axis=0) / 2
        effects_of_pairs.append((away.mean(axis=0), effect_sizes(away), wins))
    difference, effect, wins = (np.concatenate(column) for column in zip(*effects_of_pairs, strict=True))
    return difference, effect, wins


def effect_sizes(differences: Float64) -> Float64:
    """Mean over deviation of each column (N, K): 0 where all are 0, else infinite where all are alike; NaN for one."""
    if len(differences) < 2:
        return np.full(differences.shape[1], np.nan)
    mean, spread = differences.mean(axis=0), differences.std(axis=0, ddof=1)
    alike = spread <= 1e-12 * np.abs(differences).max(axis=0)
    constant = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    return np.where(alike, constant, mean / np.where(alike, 1.0, spread))


def holm(p_values: Float64) -> Float64:
    """The p values under Holm's step-down correction: the chance of any false finding is at most alpha. NaN stays NaN.

    Holm 1979, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6(2).
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def indistinguishable(comparisons: Iterable[Comparison], best: Key) -> list[Key]:
    """The methods of one family whose difference from the best one is not significant."""
    return [row.with_first(best).keys[1] for row in comparisons if best in row.keys and not row.significant()]


def not_better(comparisons: Iterable[Comparison], floor: Key) -> list[Key]:
    """The methods of one family that are not significantly better than a floor, such as an edge filter."""
    of_floor = [row.with_first(floor) for row in comparisons if floor in row.keys]
    return [row.keys[1] for row in of_floor if row.better in (None, floor) or not row.significant()]
