"""Intervals of means against closed forms and slow loops, and what share of them holds the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq
from scipy.stats import binomtest, norm, t
from salgen.evaluation.statistics import mean_intervals as mean_interval_module
from salgen.evaluation.statistics.mean_intervals import mean_intervals

INFINITE = np.inf


def intervals(values, clusters=None, low=-INFINITE, high=INFINITE, **how):
    """Ends float64 (2, K) of values (S, N, K), each sample its own cluster by default."""
    clusters = np.arange(values.shape[1]) if clusters is None else clusters
    return np.stack(mean_intervals(values, clusters, *(np.full(values.shape[2], end) for end in (low, high)), **how))


@pytest.mark.parametrize("hits", [0, 1, 7, 19, 20])
def test_of_hits_and_misses_it_is_clopper_and_pearsons(hits):
    values = (np.arange(20) < hits).astype(float)[None, :, None]
    expected = binomtest(hits, 20).proportion_ci()
    found = intervals(values, low=0.0, high=1.0, guaranteed=True, draws=100_000).ravel()
    np.testing.assert_allclose(found, expected, atol=4e-3)


def slow_gaffke(clusters, low, high, draws):
    """Ends of the mean of clusters, each a list of values, by exponential weights drawn one by one."""
    rng = np.random.default_rng(0)
    size = np.mean([len(values) for values in clusters])
    ends = []
    for bound in (low, high):
        means = []
        for _ in range(draws):
            weights = rng.exponential(size=len(clusters) + 1)
            total = (
                sum(w * sum(values) for w, values in zip(weights, clusters, strict=False)) + weights[-1] * size * bound
            )
            count = sum(w * len(values) for w, values in zip(weights, clusters, strict=False)) + weights[-1] * size
            means.append(total / count)
        ends.append(means)
    return [np.quantile(ends[0], 0.025), np.quantile(ends[1], 0.975)]


def slow_studentised(clusters, draws):
    """Ends of the mean of clusters of equal size, from resamples drawn one by one."""
    rng = np.random.default_rng(0)
    means = np.array([np.mean(values) for values in clusters])
    error = means.std(ddof=1) / np.sqrt(len(means))
    away = []
    for _ in range(draws):
        again = rng.choice(means, len(means))
        away.append((again.mean() - means.mean()) / (again.std(ddof=1) / np.sqrt(len(means))))
    return [means.mean() - np.quantile(away, q) * error for q in (0.975, 0.025)]


def test_of_a_bounded_and_of_an_unbounded_score_it_equals_a_slow_loop():
    rng = np.random.default_rng(1)
    clusters = np.sort(rng.integers(0, 12, 40))
    values = rng.beta(5, 2, 40)
    groups = [values[clusters == number].tolist() for number in np.unique(clusters)]
    found = intervals(values[None, :, None], clusters, 0.0, 1.0, guaranteed=True, draws=20_000).ravel()
    np.testing.assert_allclose(found, slow_gaffke(groups, 0.0, 1.0, 20_000), atol=4e-3)
    rng = np.random.default_rng(2)
    values = rng.lognormal(size=60)
    groups = values.reshape(15, 4).tolist()
    found = intervals(values[None, :, None], np.repeat(np.arange(15), 4), draws=20_000).ravel()
    expected = slow_studentised(groups, 20_000)
    np.testing.assert_allclose(found, expected, atol=0.03 * (expected[1] - expected[0]))


@pytest.mark.parametrize("trainings", [1, 3])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, INFINITE)])
def test_copies_of_a_sample_in_its_cluster_change_nothing(bounds, trainings):
    """Ten scenes around one object are no more information than one, if all score alike."""
    values = np.random.default_rng(3).random((trainings, 20, 2))
    found = intervals(np.repeat(values, 10, axis=1), np.repeat(np.arange(20), 10), *bounds)
    np.testing.assert_allclose(found, intervals(values, None, *bounds), rtol=1e-9)


def test_three_trainings_with_values_are_part_of_it_and_two_are_not():
    values = np.random.default_rng(4).random((3, 30, 1)) + np.array([0.0, 0.5, 1.0])[:, None, None]
    over, given_models = (intervals(values, over_trainings=over).ravel() for over in (True, False))
    np.testing.assert_array_equal(intervals(values).ravel(), over)
    assert np.ptp(over) > 3 * np.ptp(given_models)
    two = values[:2]
    np.testing.assert_array_equal(intervals(two), intervals(two, over_trainings=False))
    error = np.std([0.0, 0.5, 1.0], ddof=1) / np.sqrt(3)  # the samples' noise is a tenth of that
    assert np.ptp(over) == pytest.approx(2 * t(2).ppf(0.975) * error, rel=0.15)
    values = np.random.default_rng(6).random((4, 30, 2))
    values[2, :, 0] = np.nan
    expected = intervals(values[[0, 1, 3]][:, :, :1]), intervals(values[:, :, 1:])
    np.testing.assert_array_equal(intervals(values), np.concatenate(expected, axis=1))


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-INFINITE, INFINITE)])
def test_it_depends_neither_on_other_scores_nor_undefined_samples_nor_pieces_of_draws(bounds, monkeypatch):
    rng = np.random.default_rng(5)
    values = rng.random((2, 20, 3))
    alone = intervals(values[:, :, 1:2], None, *bounds)
    values[:, 4, 0] = np.nan
    np.testing.assert_allclose(intervals(values, None, *bounds)[:, 1:2], alone, rtol=1e-12)
    padded = np.concatenate([values[:, :7, 1:2], np.full((2, 4, 1), np.nan), values[:, 7:, 1:2]], axis=1)
    np.testing.assert_allclose(intervals(padded, None, *bounds), alone, rtol=1e-12)
    values = np.random.default_rng(7).random((1, 40, 2))
    whole = intervals(values, None, *bounds, draws=20_000)
    monkeypatch.setattr(mean_interval_module, "_BLOCK", 41 * 3000)
    pieces = intervals(values, None, *bounds, draws=20_000)
    np.testing.assert_allclose(pieces, whole, atol=0.02 * np.ptp(whole))


def test_of_one_cluster_it_is_unknown():
    values = np.full((1, 6, 3), np.nan)
    values[0, 2, 1] = 0.5
    values[0, :2, 2] = [0.5, 0.25]
    np.testing.assert_array_equal(np.isnan(intervals(values, low=0.0, high=1.0)), [[True, True, False]] * 2)
    assert np.isnan(intervals(values, np.zeros(6, dtype=int))).all()


@pytest.mark.parametrize(("trainings", "bounds"), [(1, (0.0, 1.0)), (3, (0.0, 1.0)), (1, (-INFINITE, INFINITE))])
def test_of_a_score_that_is_the_same_everywhere_there_is_none_unless_it_is_at_a_bound(trainings, bounds):
    """A constant map has a ROC-AUC of 0.5 on every image; of 30 hits in 30 images rare misses may be left."""
    values = np.full((trainings, 30, 1), 0.1 + 0.2)
    assert np.isnan(intervals(values, np.arange(30) // 2, *bounds)).all()
    hits = intervals(np.ones((trainings, 30, 1)), None, 0.0, 1.0).ravel()
    np.testing.assert_allclose(hits, binomtest(30, 30).proportion_ci(), atol=0.01)


def hits(count, total):
    return (np.arange(total) < count).astype(float)


@pytest.mark.parametrize(
    ("values", "guaranteed"),
    [
        (np.linspace(0.2, 0.8, 5), True),  # five clusters
        (np.linspace(0.2, 0.8, 6), False),
        (np.ones(40), True),
        (hits(30, 40), False),  # 25 times their squared skewness is 33
        (hits(31, 40), True),  # and 43
    ],
)
def test_few_or_skewed_clusters_and_those_at_a_bound_have_the_guaranteed_interval(values, guaranteed):
    values = np.stack([values, values], axis=1)[None]  # two more scores do not matter
    found = intervals(values, low=0.0, high=1.0)
    np.testing.assert_array_equal(found, intervals(values, low=0.0, high=1.0, guaranteed=guaranteed))
    if not guaranteed:
        np.testing.assert_allclose(found, intervals(values).clip(0.0, 1.0))


@pytest.mark.parametrize("trainings", [3, 5])
@pytest.mark.parametrize("spread", [0.2, 0.6])  # between trainings; the mean's error between clusters is 0.1
def test_ends_over_trainings_are_those_of_the_exact_sum(trainings, spread):
    """Of a normal and a Student variable: 2,000 independent draws of the latter miss the ends by up to 11 %."""
    clusters = norm.ppf((np.arange(400) + 0.5) / 400)
    moved = np.linspace(-1.0, 1.0, trainings)
    moved *= spread / np.std(moved, ddof=1)
    values = (moved[:, None] + 2.0 * clusters / clusters.std(ddof=1))[:, :, None]
    grid = np.linspace(-9, 9, 4001)
    error = spread / np.sqrt(trainings)

    def share_below(end):
        return np.average(t(trainings - 1).cdf((end - 0.1 * grid) / error), weights=norm.pdf(grid))

    exact = brentq(lambda end: share_below(end) - 0.975, 0.0, 100.0)
    np.testing.assert_allclose(intervals(values).ravel(), [-exact, exact], rtol=0.03)


@given(arrays(float, (1, 8, 1), elements=st.integers(-100, 100).map(float)), st.floats(0.1, 10), st.floats(-5, 5))
def test_it_moves_with_the_scores_and_holds_their_mean(values, scale, shift):
    ends = intervals(values, low=-100.0, high=100.0, guaranteed=True, draws=400)
    low, high = (bound * scale + shift for bound in (-100.0, 100.0))
    moved = intervals(values * scale + shift, low=low, high=high, guaranteed=True, draws=400)
    np.testing.assert_allclose(moved, ends * scale + shift, atol=1e-6)
    assert ends[0] - 1e-9 <= values.mean() <= ends[1] + 1e-9
    assert -100 <= ends[0] <= ends[1] <= 100


REPEATS = 1000
SLACK = 3 * np.sqrt(0.05 * 0.95 / REPEATS)  # of the simulation itself


def coverage(values, truth, clusters=None, **how):
    low, high = intervals(values, clusters, draws=2000, **how)
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.parametrize(("trainings", "between"), [(1, 0.0), (3, 0.0), (3, 0.3), (5, 0.3)])
@pytest.mark.parametrize(("clusters", "size"), [(100, 1), (40, 10), (15, 4)])
def test_dependent_samples_and_trainings_are_covered(clusters, size, trainings, between):
    """Seven tenths of the variance are common to a cluster."""
    rng = np.random.default_rng(clusters)
    common = np.repeat(rng.normal(size=(1, clusters, REPEATS)), size, axis=1)
    values = np.sqrt(0.7) * common + np.sqrt(0.3) * rng.normal(size=(1, clusters * size, REPEATS))
    values = values + between * rng.normal(size=(trainings, 1, REPEATS))
    values = values + 0.3 * rng.normal(size=(trainings, clusters * size, REPEATS)) * (trainings > 1)
    numbers = np.repeat(np.arange(clusters), size)
    assert 0.93 - SLACK <= coverage(values, 0.0, numbers) <= 0.985 + SLACK * (trainings > 1)
    if size > 1 and trainings == 1:
        assert coverage(values, 0.0) < 0.85, "as if samples were independent"


@pytest.mark.parametrize("count", [20, 50, 100])
@pytest.mark.parametrize("misses", [0.02, 0.05])
def test_rare_failures_of_bounded_scores_are_covered(count, misses):
    rng = np.random.default_rng(count)
    failed = rng.random((1, count, REPEATS)) < misses
    for values, right in (
        (np.where(failed, 0.0, 1.0), 1.0),
        (np.where(failed, 0.0, rng.beta(90, 10, failed.shape)), 0.9),
    ):
        assert coverage(values, right * (1 - misses), low=0.0, high=1.0, guaranteed=True) >= 0.95 - SLACK


@pytest.mark.parametrize("count", [6, 20, 100])
@pytest.mark.parametrize(
    ("draw", "mean"),
    [
        (lambda rng, shape: rng.beta(8, 2, shape), 0.8),
        (lambda rng, shape: rng.beta(1, 5, shape), 1 / 6),
        (lambda rng, shape: (rng.random(shape) < 0.5) * 1.0, 0.5),
        (lambda rng, shape: (rng.random(shape) < 0.95) * 1.0, 0.95),
        (lambda rng, shape: np.where(rng.random(shape) < 0.6, 1.0, rng.random(shape)), 0.8),
    ],
)
def test_the_interval_that_is_chosen_covers(draw, mean, count):
    values = draw(np.random.default_rng(count), (1, count, REPEATS))
    assert coverage(values, mean, low=0.0, high=1.0) >= 0.94 - SLACK
