"""The order of methods over all data sets of the benchmark, and which of them it can tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import rankdata
from salgen.evaluation.statistics.permutation import stepdown_p_values
from salgen.evaluation.statistics.tolerance import levels
from salgen.seeding import Stream
from salgen.types import Float64

LEVEL = 0.95  # level of intervals
ALPHA = 0.05  # level of tests
DRAWS = 1000


@dataclass(frozen=True)
class Standing:
    """Methods from best to worst; those that are not defined on all data sets stand after the others."""

    methods: list[str]  # their calls
    # float64 (M,): the mean place over data sets, from 0 (the best on all of them by every metric) to 1 (the worst)
    places: Float64
    # low, high: float64 (M,): the 95 % interval of the mean over data sets like these; NaN for a method on a single one
    low: Float64
    high: Float64
    datasets: NDArray[np.int64]  # int64 (M,): the number of data sets on which the method is defined
    by_metric: Float64  # (M, F): the mean place by each metric; NaN where there is none
    by_dataset: Float64  # (M, D): the same on each data set
    # share_first, rank_low, rank_high: float64 (M,): over draws of data sets and trainings, how often the method is the
    # best, and the 95 % range of its rank, from 1; NaN for a method that lacks a data set
    share_first: Float64
    rank_low: Float64
    rank_high: Float64
    # float64 (M, M): corrected for all pairs of methods that are defined on all data sets; NaN for others, and where
    # there are fewer than six data sets
    p_values: Float64

    def __str__(self) -> str:
        return self.text(self.methods[0])

    def text(self, against: str) -> str:
        """A line for each method, the best first, with the p-value of its difference from one of them, if any."""
        p_values = self.p_values[self.methods.index(against)]
        rows = zip(self.methods, self.places, self.low, self.high, self.datasets, p_values, strict=True)
        lines = [
            f"{'>' if method == against else ' '} {method:40s} {place:.3f}  {low:.3f} to {high:.3f}  {count:9d}  "
            f"{'-' if np.isnan(p_value) else f'{p_value:.3f}'}"
            for method, place, low, high, count, p_value in rows
        ]
        head = f"  {'method':40s} place  95 % interval  data sets  p against {against}"
        return "\n".join([head, *lines, self.told_apart])

    @property
    def first_against_others(self) -> str:
        """From how many of the methods that it is compared with the test tells the first one apart, in words."""
        tested = self.p_values[0][~np.isnan(self.p_values[0])]
        if not len(tested):
            return "It is compared with no other, as it is not defined on all data sets, or they are fewer than six."
        return f"The tests do not tell it apart from {(tested > ALPHA).sum()} of {len(tested)} others."

    @property
    def told_apart(self) -> str:
        """How many pairs of methods the test tells apart, in words."""
        tested = self.p_values[np.triu_indices(len(self.methods), 1)]
        tested = tested[~np.isnan(tested)]
        if not len(tested):
            return "With fewer than six data sets no test can tell methods apart."
        return f"{(tested <= ALPHA).sum()} of {len(tested)} pairs of methods differ at {100 * ALPHA:.0f} %."


def standing(values: Float64, methods: Sequence[str]) -> Standing:
    """The order of methods, by their mean scores float64 (D, F, T, M) on data sets by metrics under trainings.

    Higher is better, and NaN stands where a method is not defined, or a data set lacks a family of metrics. A method's
    place by one metric under one training is (rank - 1) / (methods - 1), ties sharing their mean rank. Places are
    averaged over metrics, then over trainings, then over data sets, each of which counts once. What was sampled are
    data sets: trainings and families of one data set are not independent. So the interval is Student's over data sets,
    and pairs are compared by :func:`~salgen.evaluation.statistics.permutation.stepdown_p_values` of the places on each.
    """
    of_each = _places(values)
    by_training = defined_mean(of_each, axis=1)  # (D, T, M)
    places = defined_mean(by_training, axis=1)
    defined = ~np.isnan(places)
    means, low, high = student_interval(places)
    order = np.lexsort((means, ~defined.all(axis=0)))
    p_values = np.full((len(methods), len(methods)), np.nan)
    everywhere = np.flatnonzero(defined.all(axis=0))
    if len(everywhere) > 1:
        first, second = np.triu_indices(len(everywhere), 1)
        rows, columns = everywhere[first], everywhere[second]
        p_values[rows, columns] = p_values[columns, rows] = stepdown_p_values(places[:, everywhere])
    found = {
        "places": means,
        "low": np.maximum(low, 0.0),
        "high": np.minimum(high, 1.0),
        "datasets": defined.sum(axis=0),
        "by_metric": defined_mean(defined_mean(of_each, axis=2), axis=0).T,
        "by_dataset": places.T,
        **dict(zip(("share_first", "rank_low", "rank_high"), _stability(by_training), strict=True)),
        "p_values": p_values[:, order],
    }
    return Standing([methods[i] for i in order], **{name: array[order] for name, array in found.items()})


def student_interval(values: Float64) -> tuple[Float64, Float64, Float64]:
    """The mean over data sets, the first axis, and its 95 % interval; NaN where it is defined on none, or on one."""
    defined, mean = ~np.isnan(values), defined_mean(values, axis=0)
    count = defined.sum(axis=0)
    degrees = np.where(count > 1, count - 1.0, np.nan)
    variance = np.nansum((values - mean) ** 2, axis=0) / degrees
    half = stdtrit(degrees, (1 + LEVEL) / 2) * np.sqrt(variance / np.maximum(count, 1))
    return mean, mean - half, mean + half


def _stability(by_training: Float64) -> Float64:
    """How often each method is the best, and the range of its rank, over draws of data sets and of their trainings."""
    datasets, trainings, methods = by_training.shape
    stream = Stream("salgen-bench", 0, "stability")
    everywhere = np.flatnonzero(~np.isnan(by_training).all(axis=1).any(axis=0))
    found = np.full((3, methods), np.nan)
    if len(everywhere):
        drawn = stream.integers(datasets, DRAWS * datasets).reshape(DRAWS, datasets)
        has_values = (~np.isnan(by_training)).any(axis=2)
        first_defined = np.argsort(~has_values, axis=1, kind="stable")  # trainings, those without values last
        uniform = stream.uniform(DRAWS * datasets * trainings).reshape(DRAWS, datasets, trainings)
        places = (uniform * has_values.sum(axis=1)[drawn][..., None]).astype(np.int64)
        seeds = first_defined[drawn[..., None], places]
        chosen = by_training[drawn[..., None], seeds][..., everywhere]
        ranks = rankdata(defined_mean(defined_mean(chosen, axis=2), axis=1), axis=1)
        is_first = ranks == ranks.min(axis=1, keepdims=True)
        found[:, everywhere] = is_first.mean(axis=0), *np.percentile(ranks, [2.5, 97.5], axis=0)
    return found


def defined_mean(values: Float64, axis: int) -> Float64:
    """The mean of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis)
    return np.asarray(np.where(defined, values, 0.0).sum(axis=axis) / np.where(count > 0, count, np.nan))


def _places(values: Float64) -> Float64:
    """Places (D, F, T, M) from scores; NaN where there is no score, or no other method."""
    places = np.full(values.shape, np.nan)
    for index in np.ndindex(values.shape[:3]):
        defined = np.flatnonzero(~np.isnan(values[index]))
        if len(defined) > 1:
            ranks = rankdata(-levels(values[index][None, defined])[0])
            places[(*index, defined)] = (ranks - 1) / (len(defined) - 1)
    return places
