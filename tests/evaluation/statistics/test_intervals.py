"""Normalised scores, ranks over metrics, and models near chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom, rankdata

from salgen.evaluation.statistics.intervals import (
    accuracy_interval,
    mean_ranks,
    near_chance,
    normalised,
    too_few_to_tell,
)


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


@pytest.mark.parametrize(("direction", "oracle"), [(1.0, 0.4), (-1.0, 0.6), (1.0, 0.5 + 1e-17)])
def test_normalised_score_is_undefined_where_the_oracle_is_no_better_than_chance(direction, oracle):
    score, random = np.full((1, 3), 0.6), np.full((1, 3), 0.5)
    assert np.isnan(normalised(score, random, np.full((1, 3), oracle), direction))


def test_normalised_score_where_a_low_value_is_good_and_of_diagnostics():
    shape = (3, 1, 4)
    score, random, oracle = (np.full(shape, value) for value in (0.3, 0.5, 0.1))
    found = normalised(score, random, oracle, np.array([-1.0, 1.0, np.nan]))
    np.testing.assert_allclose(found, [0.5, np.nan, np.nan])


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
    ("accuracy", "count", "chance", "near", "few"),
    [
        (0.5, 400, 0.5, True, False),
        (0.99, 400, 0.5, False, False),
        (0.60, 400, 0.5, True, False),  # far above chance by the test, but it learnt a fifth of the way
        (0.80, 5, 0.5, False, True),  # far from chance, but by the test it may be luck
        (1.0, 4, 0.5, False, True),
        (0.5, 4, 0.5, True, False),
        (1.0, 6, 0.5, False, True),  # by luck once in 64 times
        (1.0, 7, 0.5, False, False),  # by luck once in 128 times
        (0.76, 400, 0.5, False, False),
        (0.60, 400, 0.1, False, False),
        (0.0, 400, 0.5, True, False),
        (1.0, 4, 1.0, True, False),  # all images are of one class
    ],
)
def test_near_chance_or_too_few_to_tell(accuracy, count, chance, near, few):
    assert near_chance(accuracy, chance) is near
    assert too_few_to_tell(accuracy, count, chance) is few
