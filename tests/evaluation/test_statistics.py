"""Intervals against slow loops and by simulation; normalised scores, ranks, and models near chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom, rankdata

from salgen.evaluation import statistics
from salgen.evaluation.statistics import (
    accuracy_interval,
    bootstrap_interval,
    mean_ranks,
    near_chance,
    normalised,
)
from salgen.seeding import Stream


def slow_interval(values, crossed, resamples):
    """The percentile bootstrap of one score, drawn value by value: values (S, N)."""
    values = values[:, np.isfinite(values).any(axis=0)]
    seeds, samples = values.shape
    means = []
    for number in range(resamples):
        columns = Stream(0, "bootstrap", "samples", index=number).integers(samples, samples)
        rows = Stream(0, "bootstrap", "seeds", index=number).integers(seeds, seeds) if crossed else range(seeds)
        drawn = [values[row, column] for row in rows for column in columns]
        known = [value for value in drawn if np.isfinite(value)]
        if known:
            means.append(np.mean(known))
    return np.quantile(means, [0.025, 0.975])


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("seeds", [1, 3])
def test_interval_equals_slow_loop(seeds, crossed):
    rng = np.random.default_rng(1)
    values = rng.random((seeds, 13, 4))
    values[0, 3, 1] = np.nan
    values[:, 5, 2] = np.nan
    values[:, :, 3][rng.random((seeds, 13)) < 0.3] = np.nan
    low, high = bootstrap_interval(values, crossed=crossed, resamples=60)
    for column in range(4):
        expected = slow_interval(values[:, :, column], crossed, 60)
        np.testing.assert_allclose([low[column], high[column]], expected, rtol=1e-12)


def test_five_seeds_are_crossed_by_default():
    values = np.random.default_rng(2).random((5, 9, 1))
    assert bootstrap_interval(values) == bootstrap_interval(values, crossed=True)
    assert bootstrap_interval(values[:4]) == bootstrap_interval(values[:4], crossed=False)
    assert bootstrap_interval(values) != bootstrap_interval(values, crossed=False)


def test_interval_does_not_depend_on_the_other_scores_nor_on_undefined_samples():
    rng = np.random.default_rng(3)
    values = rng.random((2, 20, 3))
    alone = bootstrap_interval(values[:, :, 1:2])
    together = bootstrap_interval(values)
    padded = np.concatenate([values[:, :7, 1:2], np.full((2, 4, 1), np.nan), values[:, 7:, 1:2]], axis=1)
    np.testing.assert_allclose(np.ravel(alone), [together[0][1], together[1][1]], rtol=1e-12)
    np.testing.assert_allclose(bootstrap_interval(padded), alone, rtol=1e-12)


def test_blocks_do_not_change_the_numbers(monkeypatch):
    values = np.random.default_rng(4).random((5, 11, 2))
    whole = bootstrap_interval(values, resamples=50)
    monkeypatch.setattr(statistics, "_BLOCK", 11 * 7)
    np.testing.assert_allclose(whole, bootstrap_interval(values, resamples=50), rtol=1e-12)


def test_interval_of_too_few_samples_is_unknown():
    values = np.full((1, 6, 3), np.nan)
    values[0, 2, 1] = 0.5
    values[0, :2, 2] = 0.5
    low, high = bootstrap_interval(values)
    np.testing.assert_array_equal(low, [np.nan, np.nan, 0.5])
    np.testing.assert_array_equal(high, [np.nan, np.nan, 0.5])


@settings(max_examples=25, deadline=None)
@given(arrays(float, (2, 8, 1), elements=st.floats(-100, 100)), st.floats(0.1, 10), st.floats(-5, 5))
def test_interval_moves_with_the_scores(values, scale, shift):
    low, high = bootstrap_interval(values, resamples=40)
    moved_low, moved_high = bootstrap_interval(values * scale + shift, resamples=40)
    np.testing.assert_allclose([moved_low, moved_high], np.array([low, high]) * scale + shift, atol=1e-9)
    means = values.mean(axis=0)
    assert means.min() - 1e-9 <= low <= high <= means.max() + 1e-9


def coverage(values, truth, **options):
    """Share of the columns' intervals that hold the true mean."""
    low, high = bootstrap_interval(values, resamples=400, **options)
    return np.mean((low <= truth) & (truth <= high))


def test_coverage_over_samples_is_the_stated_one():
    studies = 1000
    values = np.random.default_rng(5).beta(2, 1, (1, 100, studies))
    error = np.sqrt(0.95 * 0.05 / studies)
    assert abs(coverage(values, 2 / 3) - 0.95) < 3 * error


def test_crossed_interval_covers_other_trainings_and_the_conditional_one_does_not():
    rng = np.random.default_rng(6)
    shape = (12, 40, 300)
    values = rng.normal(size=(12, 1, 300)) + rng.normal(size=(1, 40, 300)) + rng.normal(size=shape)
    error = np.sqrt(0.95 * 0.05 / shape[2])
    crossed = coverage(values, 0.0, crossed=True)
    assert 0.95 - 3 * error - 0.02 < crossed  # a bootstrap of 12 seeds is a little narrow
    assert crossed < 0.95 + 3 * error
    assert coverage(values, 0.0, crossed=False) < 0.75


def test_normalised_score_of_the_controls_and_between():
    rng = np.random.default_rng(7)
    random, oracle = rng.random((3, 10)), 2 + rng.random((3, 10))
    assert normalised(random, random, oracle) == 0.0
    assert normalised(oracle, random, oracle) == pytest.approx(1.0)
    assert normalised(random + 0.25 * (oracle - random), random, oracle) == pytest.approx(0.25)


def test_normalised_score_uses_the_same_samples():
    nan = np.nan
    score, random, oracle = np.array([[0.6, nan, 9.0, 0.8]]), np.array([[0.5, 7, nan, 0.5]]), np.array([[1.0, 7, 7, 1]])
    assert normalised(score, random, oracle) == pytest.approx((0.7 - 0.5) / (1.0 - 0.5))


def test_normalised_score_is_undefined_without_a_span_or_samples():
    half, ones, nothing = np.full((1, 3), 0.5), np.ones((1, 3)), np.full((1, 3), np.nan)
    assert np.isnan(normalised(ones, half, half))
    assert np.isnan(normalised(nothing, half, ones))


def test_mean_ranks_of_a_small_table():
    scores = np.array([[0.9, 0.1, 0.5, np.nan], [0.8, 0.3, 0.5, np.nan], [np.nan, 0.2, 0.1, np.nan]])
    ranks = mean_ranks(scores, np.array([True, False, True, True]))
    np.testing.assert_allclose(ranks, [(1 + 1 + 1.5) / 3, (2 + 3 + 1.5) / 3, (3 + 2 + 3) / 3])


def test_mean_ranks_without_any_score():
    assert np.isnan(mean_ranks(np.full((2, 2), np.nan), np.array([True, True]))).all()


@given(arrays(float, (5, 3), elements=st.integers(0, 4).map(float)))
def test_mean_ranks_share_out_all_places(scores):
    ranks = mean_ranks(scores, np.array([True, True, True]))
    assert ranks.sum() == pytest.approx(15)
    np.testing.assert_allclose(ranks, np.mean([rankdata(-column) for column in scores.T], axis=0))


def test_accuracy_interval_at_the_end_is_the_closed_form():
    low, high = accuracy_interval(1.0, 50)
    assert low == pytest.approx(0.025 ** (1 / 50))
    assert high == 1.0


def test_accuracy_interval_leaves_the_stated_tails():
    low, high = accuracy_interval(0.8, 40)
    assert binom.sf(31, 40, low) == pytest.approx(0.025)
    assert binom.cdf(32, 40, high) == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("accuracy", "count", "chance", "verdict"),
    [
        (0.5, 400, 0.5, True),
        (0.99, 400, 0.5, False),
        (0.60, 400, 0.5, True),  # far above chance by the test, but it learnt a fifth of the way
        (0.80, 5, 0.5, True),  # far from chance, but by the test it may be luck
        (0.76, 400, 0.5, False),
        (0.60, 400, 0.1, False),
        (0.0, 400, 0.5, True),
    ],
)
def test_near_chance(accuracy, count, chance, verdict):
    assert near_chance(accuracy, count, chance) is verdict
