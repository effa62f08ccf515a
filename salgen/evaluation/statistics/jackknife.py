"""Intervals of whatever is computed from means, by leaving out one cluster of samples or one training at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import inf, nan
from typing import Any, NamedTuple
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from salgen.evaluation.statistics.clusters import LEAST, cluster_sums, numbered
from salgen.evaluation.statistics.mean_intervals import LEAST_TRAININGS
from salgen.types import Float64

CLUSTERS, TRAINED = "clusters", "trainings"
Units = NDArray[Any]  # names of clusters, or seeds of trainings, sorted


class Population(NamedTuple):
    """The units that were sampled from: clusters of a data set's split, or trainings of a network on a data set."""

    kind: str
    dataset: str
    part: str


class RunScores(NamedTuple):
    """Scores of one method in one run."""

    values: Float64  # float64 (S, N): of N samples under S training seeds; NaN where undefined
    clusters: Units  # the name of each sample's cluster, (N,)
    seeds: Units  # the training seeds, (S,)
    dataset: str
    split: str
    model: str


@dataclass(frozen=True)
class Estimate:
    """A number that was computed from samples, and what it would be without each of them."""

    value: float  # NaN where it is undefined
    # the names of each population's U units that count, and the float64 (U,) values without each of them; empty for a
    # number that is known
    without: Mapping[Population, tuple[Units, Float64]] = field(default_factory=dict)
    samples: Mapping[Population, int] = field(default_factory=dict)  # the number of samples in clusters

    def __sub__(self, other: Estimate | float) -> Estimate:
        estimates = [self, other if isinstance(other, Estimate) else Estimate(other)]
        return combined(lambda values: values[:, 0] - values[:, 1], estimates)

    @property
    def size(self) -> dict[str, int]:
        """The numbers of clusters, of samples and of trained models that it rests on."""
        sizes = {CLUSTERS: 0, "samples": sum(self.samples.values()), TRAINED: 0}
        for population, (names, _) in self.without.items():
            sizes[population.kind] += len(names)
        return sizes


def combined(function: Callable[[Float64], Float64], estimates: Sequence[Estimate]) -> Estimate:
    """A function from float64 (R, K), a column for each estimate, to float64 (R,), with the units that they share."""
    values = np.array([estimate.value for estimate in estimates])
    without = {}
    for population in dict.fromkeys(population for estimate in estimates for population in estimate.without):
        parts = {column: e.without[population] for column, e in enumerate(estimates) if population in e.without}
        units = reduce(np.union1d, (names for names, _ in parts.values()))
        rows = np.tile(values, (len(units), 1))
        for column, (names, left) in parts.items():
            rows[np.searchsorted(units, names), column] = left
        without[population] = units, function(rows)
    samples: dict[Population, int] = {}
    for estimate in estimates:
        samples |= {population: max(n, samples.get(population, 0)) for population, n in estimate.samples.items()}
    return Estimate(float(function(values[np.newaxis])[0]), without, samples)


def averaged(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of estimates, all of the same weight."""
    return combined(lambda values: np.asarray(values.mean(axis=1)), estimates)


def mean_estimate(scores: Sequence[RunScores]) -> Estimate:
    """The mean over all samples and training seeds of one or several runs."""
    parts = [(one, np.isfinite(one.values)) for one in scores]
    total = sum(float(one.values[defined].sum()) for one, defined in parts)
    count = sum(int(defined.sum()) for _, defined in parts)
    if not count:
        return Estimate(nan)
    found: dict[Population, list[tuple[Units, Float64, Float64]]] = {}
    samples: dict[Population, int] = {}
    for one, defined in parts:
        values = np.where(defined, one.values, 0.0)
        for kind, part, axis, units in ((CLUSTERS, one.split, 0, one.clusters), (TRAINED, one.model, 1, one.seeds)):
            used = defined.any(axis=axis)
            population = Population(kind, one.dataset, part)
            sums, counts = values.sum(axis=axis)[used], defined.sum(axis=axis)[used].astype(np.float64)
            found.setdefault(population, []).append((units[used], sums, counts))
            if kind == CLUSTERS:
                samples[population] = samples.get(population, 0) + int(used.sum())
    without = {}
    for population, pieces in found.items():
        names, sums, counts = (np.concatenate(column) for column in zip(*pieces, strict=True))
        units, codes = np.unique(names, return_inverse=True)
        of_units = cluster_sums(np.stack([sums, counts], axis=1), numbered(codes.reshape(-1)))
        left = count - of_units[:, 1]
        rest = total - of_units[:, 0]
        without[population] = units, np.divide(rest, left, out=np.full(len(units), nan), where=left > 0)
    return Estimate(total / count, without, samples)


def interval(estimate: Estimate, shares: tuple[float, float] = (0.025, 0.025)) -> tuple[float, float]:
    """The confidence interval of an estimate, about other clusters and, of `LEAST_TRAININGS` or more, other trainings.

    `shares` are the chances that the truth lies below and above. The interval is infinite where fewer than six clusters
    of a data set count, or the estimate is undefined without one of them.

    Notes
    -----
    Each population gives a Student interval by its jackknife variance. Half their lengths are added in quadrature
    (Howe). Of a mean over clusters of one size it is Student's interval. The interaction of clusters and trainings
    counts in both, so it is rather too wide.

    References
    ----------
    Efron & Stein 1981, *The jackknife estimate of variance*, Annals of Statistics 9(3); Howe 1974, *Approximate
    confidence limits on the mean of X + Y where X and Y are two tabled independent random variables*, Journal of the
    American Statistical Association 69(347); Owen 2007, *The pigeonhole bootstrap*, Annals of Applied Statistics 1(2)
    (for clusters and trainings).
    """
    squares = np.zeros(2)
    for population, (units, values) in estimate.without.items():
        count = len(units)
        if population.kind == CLUSTERS and (count < LEAST or not np.isfinite(values).all()):
            return -inf, inf
        if population.kind == CLUSTERS or count >= LEAST_TRAININGS:
            variance = (count - 1) / count * ((values - values.mean()) ** 2).sum()
            squares += variance * stdtrit(count - 1, shares) ** 2
    low, high = np.sqrt(squares).tolist()
    return estimate.value - low, estimate.value + high
