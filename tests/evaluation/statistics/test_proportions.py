"""Intervals of shares of hits against scipy, and how many of them hold the truth: counted or simulated."""

import numpy as np
import pytest
from repeats import mixed
from scipy.stats import binom, binomtest, norm

from salgen.evaluation.statistics.bootstrap import bootstrap_interval
from salgen.evaluation.statistics.proportions import are_hits, clopper_pearson, hit_interval


def hits_of(samples):
    """float64 (1, N, N + 1): a column for each number of hits."""
    return (np.arange(samples)[:, None] < np.arange(samples + 1)).astype(float)[None]


def exact_coverage(ends, samples, share):
    low, high = ends
    return binom.pmf(np.arange(samples + 1), samples, share)[(low <= share) & (share <= high)].sum()


@pytest.mark.parametrize("samples", [2, 7, 50])
def test_ends_equal_scipys(samples):
    low, high = clopper_pearson(np.arange(samples + 1) / samples, np.full(samples + 1, float(samples)), 0.9)
    for hits in range(samples + 1):
        expected = binomtest(hits, samples).proportion_ci(0.9, method="exact")
        assert (low[hits], high[hits]) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_one_training_counts_its_samples():
    values = hits_of(12)
    expected = clopper_pearson(np.arange(13) / 12, np.full(13, 12.0), 0.95)
    for crossed in (False, True):
        np.testing.assert_allclose(bootstrap_interval(values, crossed=crossed), expected, rtol=1e-9, atol=1e-15)
    padded = np.concatenate([values, np.full((1, 5, 13), np.nan)], axis=1)
    np.testing.assert_allclose(bootstrap_interval(padded), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("samples", [20, 50, 200])
def test_exact_coverage_of_one_training_is_nowhere_less_than_it_says(samples):
    """Over shares up to nearly 1; the mean tells that it is not idly wide."""
    ends = bootstrap_interval(hits_of(samples))
    found = [exact_coverage(ends, samples, share) for share in np.linspace(0.5, 0.999, 500)]
    assert min(found) >= 0.95
    assert np.mean(found) < 0.98
    mirrored = [exact_coverage(ends, samples, share) for share in (0.001, 0.02, 0.05, 0.15)]
    assert min(mirrored) >= 0.95


@pytest.mark.parametrize(("samples", "share"), [(20, 0.95), (50, 0.98), (200, 0.99)])
def test_a_bootstrap_would_not_do(samples, share):
    ends = bootstrap_interval(hits_of(samples), resamples=400, shares=False)
    assert exact_coverage(ends, samples, share) < 0.9


@pytest.mark.parametrize("seeds", [1, 3, 6])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_where_all_are_alike_only_samples_count(seeds, value):
    low, high = bootstrap_interval(np.full((seeds, 30, 1), value))
    away = 1 - 0.025 ** (1 / 30)
    assert (low[0], high[0]) == pytest.approx((1 - away, 1.0) if value else (0.0, away))


def test_trainings_that_agree_are_one_and_independent_ones_are_many():
    rng = np.random.default_rng(0)
    once = (rng.random((1, 200, 40)) < 0.8).astype(float)
    width = np.ptp(hit_interval(once, False, 0.95), axis=0)
    agreeing = np.ptp(hit_interval(np.repeat(once, 4, axis=0), False, 0.95), axis=0)
    np.testing.assert_allclose(agreeing, width)
    independent = np.ptp(hit_interval((rng.random((4, 200, 40)) < 0.8).astype(float), False, 0.95), axis=0)
    assert independent.mean() == pytest.approx(width.mean() / 2, rel=0.05)


STUDIES = 1500


def coverage(values, truth, **options):
    low, high = bootstrap_interval(values.astype(float), **options)
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.parametrize(
    ("samples", "share", "agreement"), mixed((20, 50, 200), (0.5, 0.85, 0.95, 0.98, 0.99), (0.02, 0.5, 0.95))
)
def test_coverage_conditional_on_three_trainings(samples, share, agreement):
    """Beta-binomial hits of each sample; slack of 0.025 since agreement is known only from the few misses."""
    rng = np.random.default_rng(1)
    size = 1 / agreement - 1
    chance = rng.beta(share * size, (1 - share) * size, (1, samples, STUDIES))
    assert coverage(rng.random((3, samples, STUDIES)) < chance, share) > 0.95 - 0.025


POINTS = norm.ppf((np.arange(20_000) + 0.5) / 20_000)


@pytest.mark.parametrize(("middle", "spread"), mixed((1, 3, 4.5), ((0.05, 0.95), (0.5, 0.94), (1.5, 0.86))))
def test_coverage_over_trainings(middle, spread):
    """Logits of five trainings and 100 samples. Where trainings differ much, five of them say too little."""
    of_seeds, least = spread
    rng = np.random.default_rng(2)
    logit = middle + of_seeds * rng.normal(size=(5, 1, STUDIES)) + rng.normal(size=(1, 100, STUDIES))
    truth = np.mean(1 / (1 + np.exp(-middle - np.sqrt(1 + of_seeds**2) * POINTS)))
    hits = (rng.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(float)
    found = coverage(hits, truth)
    assert found > least
    assert found >= coverage(hits, truth, resamples=300, shares=False) - 0.005


def test_which_scores_are_hits():
    nan = np.nan
    values = np.array([[0, 1, 1], [0, 0.5, 1], [nan, nan, nan], [nan, 1, 0], [2, 1, 0]], dtype=float).T
    assert are_hits(values).tolist() == [True, False, False, True, False]


def test_other_scores_keep_the_bootstrap_and_the_caller_may_want_it():
    rng = np.random.default_rng(3)
    values = np.stack([rng.random((1, 40)), rng.random((1, 40)) < 0.7, np.full((1, 40), 0.7)], axis=2)
    both, plain = np.array(bootstrap_interval(values)), np.array(bootstrap_interval(values, shares=False))
    np.testing.assert_allclose(both[:, [0, 2]], plain[:, [0, 2]], rtol=1e-12)
    assert both[0, 2] == both[1, 2] == pytest.approx(0.7)
    assert (both[:, 1] != plain[:, 1]).all()
    chosen = np.array(bootstrap_interval(values, shares=np.array([True, False, True])))
    np.testing.assert_allclose(chosen, plain, rtol=1e-12)
