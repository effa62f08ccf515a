"""Thresholds with bootstrap intervals: trainings and clusters of samples are drawn anew, and curves fitted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import numpy as np
from scipy.special import ndtr, rel_entr, stdtrit
from salgen.evaluation.statistics.clusters import cluster_sums, multiplicities
from salgen.evaluation.statistics.training_noise import training_variances
from salgen.evaluation.sweeps.psychometric import TINY, Axis, Curves, fit
from salgen.seeding import Stream
from salgen.types import Float64

DRAWS = 1000
LEVEL = 0.95
FOUND, NOT_REACHED, EVERYWHERE = "found", "not reached", "reached at every dose"
UNDECIDED, NOT_MONOTONE = "undecided", "not monotone"
OUTCOMES = (EVERYWHERE, FOUND, UNDECIDED, NOT_MONOTONE, NOT_REACHED)  # in the order of tables


@dataclass(frozen=True)
class Trials:
    """Performance at D doses under S trainings each, summed over the images of each of G clusters."""

    # sums, counts: float64 (D, S, G): of values in [0, 1], and of images. A cluster has one number at all doses
    sums: Float64
    counts: Float64

    @classmethod
    def of(cls, values: Sequence[Float64], clusters: Sequence[Sequence[str]], names: Sequence[str]) -> Trials:
        """Of each dose's values (S, N), NaN where undefined, and each image's cluster, one of the names."""
        number = {name: place for place, name in enumerate(names)}
        sums, counts = np.zeros((2, len(values), len(values[0]), len(names)))
        for dose, (of_dose, members) in enumerate(zip(values, clusters, strict=True)):
            places = np.array([number[name] for name in members], dtype=np.int64)
            for part, array in ((sums, np.nan_to_num(of_dose)), (counts, np.isfinite(of_dose))):
                of_clusters = cluster_sums(array.T.astype(np.float64), places).T
                part[dose, :, : of_clusters.shape[1]] = of_clusters
        return cls(sums, counts)

    @property
    def means(self) -> Float64:
        """float64 (D,): over all trainings and images; NaN where no image has a value."""
        return _ratio(self.sums.sum(axis=(1, 2)), self.counts.sum(axis=(1, 2)), np.nan)

    @property
    def own_share(self) -> float:
        """k: the root of the share of the variance between trainings that is not noise of their images."""
        if self.sums.shape[1] == 1:
            return 0.0
        scored = self.counts.any(axis=(1, 2))
        of_clusters = _ratio(self.sums[scored], self.counts[scored], np.nan).transpose(1, 2, 0)
        own = training_variances(of_clusters, np.arange(self.sums.shape[2])).sum()
        defined = np.isfinite(of_clusters)
        means = _ratio(np.nansum(of_clusters, axis=1), defined.sum(axis=1), np.nan)
        trainings = defined.any(axis=1).sum(axis=0)
        several = trainings > 1
        between = (np.nanvar(means[:, several], axis=0, ddof=1) / trainings[several]).sum()
        return float(np.sqrt(own / between)) if between > 0 else 0.0

    @property
    def of_trainings(self) -> Float64:
        """float64 (D, S)."""
        return _ratio(self.sums.sum(axis=2), self.counts.sum(axis=2))


@dataclass(frozen=True)
class Threshold:
    """The dose at which performance is halfway from chance to perfect, with a 95 % interval."""

    outcome: str  # see `_outcome`
    threshold: float  # in units of the dose; NaN unless it was found
    low: float  # infinite beyond the doses
    high: float
    slope: float  # at the threshold, per doubling of the dose or, on an axis that is not logarithmic, per unit
    ceiling: float  # 1 - λ
    misfit: float  # the largest distance of a dose's mean from the curve
    lack_of_fit: bool  # the means are further from the curve than noise takes them
    minus_model: float = np.nan  # less the model's threshold
    minus_low: float = -np.inf
    minus_high: float = np.inf


def thresholds(
    doses: Float64,
    model: Trials,
    methods: Mapping[str, Trials],
    axis: Axis,
    *,
    chance: float = 0.5,
    shape: str = "logistic",
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[tuple[Curves, Threshold], dict[str, tuple[Curves, Threshold]]]:
    """The fitted curves and the thresholds of a model, by its accuracy, and of methods, by their scores.

    Clusters have the same numbers in all of them. Each draw of the bootstrap takes the clusters again, and S - 1 of
    the S training seeds. It is the same at all doses and for all methods. A value counts as often as its cluster was
    drawn, times 1 + k (count / expected count - 1) of its seed, with k of `Trials.own_share`. Ends are quantiles of
    the draws' thresholds, further out than 2.5 % as Student's with S - 1 degrees of freedom are beyond the normal's.
    Lack of fit is tested by the deviance of the means from the curve. Its distribution is that of the draws' means,
    moved to scatter about the curve. See docs/thresholds.md.
    """
    order = np.argsort(axis.places(doses))
    places, weights = axis.places(doses)[order], _drawn(model.sums.shape, draws, seed)
    found = {
        name: _threshold(Trials(trials.sums[order], trials.counts[order]), weights, places, axis, level, shape)
        for name, trials, level in (("", model, chance), *((name, trials, 0.5) for name, trials in methods.items()))
    }
    curve, of_model, ends = found.pop("")
    compared = {}
    for name, (of_method, row, own_ends) in found.items():
        with np.errstate(invalid="ignore"):  # infinite less infinite may be anything
            below, above = own_ends - ends[::-1]
        low, high = np.where(np.isnan(below), -np.inf, below), np.where(np.isnan(above), np.inf, above)
        interval = _interval(low, high, _share(model.sums.shape[1]))
        less = row.threshold - of_model.threshold
        compared[name] = of_method, replace(row, minus_model=less, minus_low=interval[0], minus_high=interval[1])
    return (curve, of_model), compared


def _threshold(
    trials: Trials, weights: tuple[Float64, Float64], places: Float64, axis: Axis, chance: float, shape: str
) -> tuple[Curves, Threshold, Float64]:
    """The curve, its threshold, and the doses of each draw between which its threshold may lie, float64 (2, B)."""
    share, counts, means = _share(trials.sums.shape[1]), trials.counts.sum(axis=(1, 2)), np.nan_to_num(trials.means)
    curve = fit(places, means[np.newaxis], counts[np.newaxis], chance, shape)
    drawn, of_drawn = _resampled(trials, *weights)
    scored, expected = counts > 0, curve.at(places)
    moved = np.clip(drawn - means + expected, 0.0, 1.0)  # draws of means that scatter about the curve
    noise = _deviance(moved, of_drawn, fit(places, moved, of_drawn, chance, shape).at(places))
    lack = bool(_deviance(means, counts, expected)[0] > np.quantile(noise, 1 - 2 * share, method="higher"))
    outcome = _outcome(means[scored], drawn[:, scored], curve, places[scored], share, lack)
    bounds = np.stack(fit(places, drawn, of_drawn, chance, shape).bounds)
    ends = axis.doses(bounds)[:: -1 if axis.falling else 1]
    if outcome == NOT_MONOTONE:
        ends[:] = [[-np.inf], [np.inf]]
    sign = -1.0 if axis.falling else 1.0
    found = [axis.doses(curve.thresholds)[0], sign * curve.slopes[0] * (np.log(2) if axis.log else 1.0)]
    threshold, slope = map(float, found) if outcome == FOUND else (np.nan, np.nan)
    misfit = float(np.abs(expected[0] - means)[scored].max(initial=0.0))
    interval, ceiling = _interval(ends[0], ends[1], share), float(curve.ceiling[0])
    return curve, Threshold(outcome, threshold, *interval, slope, ceiling, misfit, lack), ends


def _outcome(means: Float64, drawn: Float64, curve: Curves, places: Float64, share: float, lack: bool) -> str:
    """What the doses' own means (D,), and draws of them (B, D), say of halfway, from the hardest dose to the easiest.

    - `NOT_REACHED`: all means are below it.
    - `EVERYWHERE`: none is.
    - `NOT_MONOTONE`: an easier dose is below it and a harder one is not, and the fall between them is no noise.
    - `FOUND`: performance grows along the doses, by the interval of its covariance with them, and the curve passes
      halfway. Where it lacks fit, the means pass halfway only once.
    - `UNDECIDED`: none of these.
    """
    reached = means >= (1 + curve.chance) / 2
    if reached.all() or not reached.any():
        return EVERYWHERE if reached.any() else NOT_REACHED
    noise = drawn - means
    falls = (np.maximum.accumulate(noise, axis=1) - noise).max(axis=1)
    fallen = np.maximum.accumulate(np.where(reached, means, -np.inf)) - means
    if fallen[~reached].max() > np.quantile(falls, 1 - share, method="higher"):
        return NOT_MONOTONE
    grows = np.quantile(drawn @ (places - places.mean()), share, method="lower") > 0
    credible = not lack or bool((np.diff(reached.astype(int)) >= 0).all())
    return FOUND if grows and credible and np.isfinite(curve.thresholds[0]) else UNDECIDED


def _deviance(means: Float64, counts: Float64, expected: Float64) -> Float64:
    """Of means (B, D) of so many images, from those that curves expect: float64 (B,)."""
    expected = np.clip(expected, TINY, 1 - TINY)
    parts = rel_entr(means, expected) + rel_entr(1 - means, 1 - expected)
    return np.asarray(2 * (counts * parts).sum(axis=1))


def _share(trainings: int) -> float:
    """The share of draws beyond each end of an interval."""
    share = (1 - LEVEL) / 2
    return share if trainings == 1 else float(ndtr(stdtrit(trainings - 1, share)))


def _interval(low: Float64, high: Float64, share: float) -> tuple[float, float]:
    return float(np.quantile(low, share, method="lower")), float(np.quantile(high, 1 - share, method="higher"))


def _drawn(shape: tuple[int, ...], draws: int, seed: int) -> tuple[Float64, Float64]:
    """How often each draw has each cluster, float64 (B, G), and each training seed, (B, S)."""
    _, trainings, clusters = shape
    of_clusters = Stream(seed, "thresholds", "clusters").integers(clusters, draws * clusters)
    times = multiplicities(of_clusters.reshape(draws, clusters), clusters)
    if trainings == 1:
        return times, np.ones((draws, 1))
    chosen = Stream(seed, "thresholds", "trainings").integers(trainings, draws * (trainings - 1))
    return times, multiplicities(chosen.reshape(draws, trainings - 1), trainings)


def _resampled(trials: Trials, of_clusters: Float64, of_trainings: Float64) -> tuple[Float64, Float64]:
    """The means and the numbers of images in each draw, float64 (B, D) each."""
    trainings = trials.sums.shape[1]
    times = 1 + trials.own_share * (of_trainings * (trainings / max(trainings - 1, 1)) - 1)
    sums, counts = (np.einsum("bs,dsb->bd", times, part @ of_clusters.T) for part in (trials.sums, trials.counts))
    return _ratio(sums, counts), counts


def _ratio(sums: Float64, counts: Float64, empty: float = 0.5) -> Float64:
    return np.asarray(np.divide(sums, counts, out=np.full(sums.shape, empty), where=counts > 0), dtype=np.float64)
