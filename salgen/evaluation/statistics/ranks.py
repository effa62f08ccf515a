"""Mean ranks of methods over clusters of samples, with their critical difference, and over metrics."""

from dataclasses import dataclass
from functools import lru_cache
import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc
from salgen.evaluation.statistics.clusters import cluster_sums
from salgen.evaluation.statistics.comparison_groups import Family, Key, family
from salgen.evaluation.statistics.permutation import ALPHA
from salgen.evaluation.statistics.score_cube import ScoreCube
from salgen.evaluation.statistics.tolerance import levels
from salgen.types import Float64


@dataclass(frozen=True)
class MeanRanks:
    """The methods of one family by their mean rank over clusters."""

    model: str
    metric: str
    # keys, ranks: the methods from best to worst, and float64 (K,): their mean ranks; 1 is best, and methods that tie
    # on a cluster share the mean of their ranks
    keys: list[Key]
    ranks: Float64
    clusters: int  # number of clusters of samples
    # statistic, p_value: friedman's, of the hypothesis that all methods rank alike
    statistic: float
    p_value: float
    critical_difference: float  # mean ranks that differ by this much or more differ significantly (Nemenyi)
    cliques: list[tuple[int, int]]  # maximal groups of methods that do not, each a (start, stop) in `keys`


def rank_methods(cube: ScoreCube, model: str, metric: str, variant: str) -> MeanRanks | None:
    """The mean ranks of a model's methods under one metric and variant; None if there are not two with values."""
    group = family(cube, model, metric, variant)
    return rank_family(group) if group is not None else None


def rank_family(group: Family) -> MeanRanks:
    """The mean ranks of a family's methods, each cluster's score the mean over its samples and the training seeds."""
    sizes = cluster_sums(group.used, group.clusters)
    values = group.sums[sizes > 0] / sizes[sizes > 0, np.newaxis]
    ranks = cluster_ranks(values, group.higher_is_better)
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    difference = critical_difference(len(group.keys), len(values))
    statistic, p_value = friedman(ranks)
    return MeanRanks(
        model=group.model,
        metric=group.metric,
        keys=[group.keys[i] for i in order],
        ranks=means[order],
        clusters=len(values),
        statistic=statistic,
        p_value=p_value,
        critical_difference=difference,
        cliques=cliques(means[order], difference),
    )


def cluster_ranks(values: Float64, higher_is_better: bool) -> Float64:
    """float64 (N, K): the rank of each method in each cluster; values that are equal up to rounding tie."""
    from scipy.stats import rankdata  # takes a third of a second, and is needed at the end of a run

    ascending = levels(values)
    return np.asarray(rankdata(-ascending if higher_is_better else ascending, axis=1), dtype=np.float64)


def mean_ranks(scores: Float64, higher_is_better: NDArray[np.bool_]) -> Float64:
    """Mean rank of each method, of scores (methods, metrics); NaN ranks last, a metric of NaN alone does not count."""
    from scipy.stats import rankdata

    better_is_less = np.where(higher_is_better, -scores, scores)
    has_scores = ~np.isnan(scores).all(axis=0)
    if not has_scores.any():
        return np.full(len(scores), np.nan)
    ranks = rankdata(np.where(np.isnan(better_is_less), np.inf, better_is_less)[:, has_scores], axis=0)
    return np.asarray(ranks.mean(axis=1), dtype=np.float64)


def friedman(ranks: Float64) -> tuple[float, float]:
    """Friedman's statistic of ranks (N, K), corrected for ties, and its chi-squared p value; 0 and 1 where all tie.

    Friedman 1937, *The use of ranks to avoid the assumption of normality*, JASA 32(200); Conover 1999, *Practical
    nonparametric statistics*, section 5.8 (ties).
    """
    methods = ranks.shape[1]
    middle = (methods + 1) / 2
    spread = ((ranks - middle) ** 2).sum()
    if spread == 0:
        return 0.0, 1.0
    between = ((ranks.sum(axis=0) - len(ranks) * middle) ** 2).sum()
    statistic = float((methods - 1) * between / spread)
    return statistic, float(chdtrc(methods - 1, statistic))


@lru_cache
def critical_difference(methods: int, clusters: int) -> float:
    """The difference of mean ranks that is significant among all pairs of K methods: q sqrt(K (K + 1) / 6N).

    Nemenyi 1963; Demšar 2006, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7, section 3.2.2.
    """
    from scipy.stats import studentized_range

    q = studentized_range.ppf(1 - ALPHA, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * clusters)))


def cliques(ranks: Float64, difference: float) -> list[tuple[int, int]]:
    """Maximal runs (start, stop) of two or more ascending mean ranks that lie less than a difference apart."""
    stops = np.searchsorted(ranks, ranks + difference, side="left")
    runs: list[tuple[int, int]] = []
    for start, stop in enumerate(stops.tolist()):
        if stop - start > 1 and (not runs or stop > runs[-1][1]):
            runs.append((start, stop))
    return runs
