"""Intervals by leaving out clusters and trainings: against a library, and against means computed again without each."""

from math import inf, isnan, nan
import numpy as np
import pytest
from scipy import stats
from salgen.evaluation.statistics.jackknife import Estimate, RunScores, averaged, combined, interval, mean_estimate


def scores(values, clusters=None, dataset="d", split="test", model="m", seeds=None):
    """RunScores (S, N) or (N,) of one run; by default each sample is its own cluster."""
    values = np.atleast_2d(np.asarray(values, dtype=float))
    names = np.arange(values.shape[1]) if clusters is None else np.asarray(clusters)
    units = np.arange(len(values)) if seeds is None else np.asarray(seeds)
    return RunScores(values, np.array([f"c{name}" for name in names]), units, dataset, split, model)


def estimate(*given, **how):
    return mean_estimate([scores(*given, **how)])


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("count", [6, 7, 40])
@pytest.mark.parametrize("share", [0.025, 0.0001])
def test_of_independent_samples_it_is_students_interval(count, share):
    values = drawn(count)
    found = interval(estimate(values), (share, share))
    expected = stats.ttest_1samp(values, 0).confidence_interval(1 - 2 * share)
    assert found == pytest.approx((expected.low, expected.high))


def test_of_a_difference_it_is_the_paired_interval_and_of_two_data_sets_howes():
    a, b = drawn(2, 12)
    pair = stats.ttest_rel(a, b).confidence_interval(0.95)
    assert interval(estimate(a) - estimate(b)) == pytest.approx((pair.low, pair.high))
    longer = drawn(20, seed=3) * 3
    lengths = [stats.sem(of) * stats.t.ppf(0.975, len(of) - 1) for of in (a, longer)]
    ends = np.mean(a) - np.mean(longer) + np.array([-1, 1]) * np.hypot(*lengths)
    assert interval(estimate(a) - estimate(longer, dataset="e")) == pytest.approx(ends)
    mean = stats.ttest_1samp((a + b) / 2, 0).confidence_interval(0.95)
    assert interval(averaged([estimate(a), estimate(b, model="n")])) == pytest.approx((mean.low, mean.high))
    assert interval(estimate(a) - 1.5) == pytest.approx(
        [end - 1.5 for end in stats.ttest_1samp(a, 0).confidence_interval(0.95)]
    )


def without_one(function, runs, dataset, split, model):
    """A function of means of (values, clusters, dataset, split, model), again without each cluster and training."""
    of_clusters, of_seeds = [], []
    names = sorted({c for r in runs if r[2:4] == (dataset, split) for c in r[1]})
    for name in names:
        kept = [
            r[0][:, [c != name for c in r[1]]] if r[2:4] == (dataset, split) else r[0]
            for r in runs
        ]  # fmt: skip
        of_clusters.append(function([np.nanmean(values) for values in kept]))
    count = max(len(r[0]) for r in runs if (r[2], r[4]) == (dataset, model))
    for seed in range(count):
        kept = [np.delete(r[0], seed, axis=0) if (r[2], r[4]) == (dataset, model) else r[0] for r in runs]
        of_seeds.append(function([np.nanmean(values) for values in kept]) if count > 1 else None)
    return of_clusters, of_seeds


def jackknife_variance(values):
    return (len(values) - 1) / len(values) * sum((value - np.mean(values)) ** 2 for value in values)


def test_of_any_function_it_is_that_of_means_computed_again():
    """Ratios and differences over two data sets and two networks, three trainings of one, undefined scores."""
    rng = np.random.default_rng(1)
    clusters = [0, 0, 1, 2, 2, 2, 3, 4, 5, 6]
    few = [0, 1, 2, 3, 4, 5, 6]
    runs = [
        (rng.normal(3, 1, (3, 10)), clusters, "d", "test", "m"),
        (rng.normal(2, 1, (1, 7)), few, "d", "test", "n"),
        (rng.normal(4, 1, (1, 9)), list(range(9)), "e", "test", "m"),
    ]
    runs[0][0][1, 2] = runs[0][0][:, 5] = nan
    estimates = [estimate(r[0], clusters=r[1], dataset=r[2], split=r[3], model=r[4]) for r in runs]
    found = combined(lambda values: values[:, 0] / values[:, 1] - values[:, 2], estimates)

    def function(means):
        return means[0] / means[1] - means[2]

    assert found.value == pytest.approx(function([np.nanmean(r[0]) for r in runs]))
    parts = []
    for dataset, model in (("d", "m"), ("e", "m")):
        of_clusters, of_seeds = without_one(function, runs, dataset, "test", model)
        parts.append((jackknife_variance(of_clusters), len(of_clusters) - 1))
        if len(of_seeds) >= 3:
            parts.append((jackknife_variance(of_seeds), len(of_seeds) - 1))
    assert [freedom for _, freedom in parts] == [6, 2, 8]
    length = sum(part * stats.t.ppf(0.975, n) ** 2 for part, n in parts) ** 0.5
    assert interval(found) == pytest.approx((found.value - length, found.value + length))
    assert found.size == {"clusters": 16, "samples": 18, "trainings": 5}


def test_runs_of_one_cell_are_pooled_and_splits_are_samples_of_their_own():
    a, b = drawn(2, 9)
    pooled = mean_estimate([scores(a), scores(b, split="val")])
    variance = sum(jackknife_variance([(a.sum() + b.sum() - x) / 17 for x in of]) for of in (a, b))
    low, high = interval(pooled)
    assert pooled.value == pytest.approx(np.concatenate([a, b]).mean())
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 8) * variance**0.5)
    assert pooled.size == {"clusters": 18, "samples": 18, "trainings": 1}


def test_fewer_than_six_clusters_and_what_cannot_be_computed_without_one_tell_nothing():
    assert interval(estimate(drawn(5))) == (-inf, inf)
    assert interval(estimate(drawn(5)) - estimate(drawn(50), dataset="e")) == (-inf, inf)
    assert isnan(mean_estimate([scores([nan, nan])]).value)
    assert interval(Estimate(0.3)) == (0.3, 0.3)
    assert interval(estimate([0.25] * 8)) == (0.25, 0.25)
    ratio = combined(
        lambda v: np.divide(v[:, 0], v[:, 1], out=np.full(len(v), nan), where=v[:, 1] != 0),
        [estimate(drawn(8)), estimate([0.0] * 7 + [1.0])],
    )
    assert interval(ratio) == (-inf, inf)
