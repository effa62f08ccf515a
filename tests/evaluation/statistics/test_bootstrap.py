"""Bootstrap intervals against slow loops, and what share of them holds the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm, t

from salgen.evaluation.statistics import bootstrap
from salgen.evaluation.statistics.bootstrap import bootstrap_interval
from salgen.evaluation.statistics.standard_errors import standard_error
from salgen.seeding import Stream


def slow_error(values, crossed):
    """Standard error and degrees of freedom of the mean of values (S, N), all defined, by loops."""
    seeds, samples = values.shape
    mean = values.mean()
    rows, columns = [row.mean() for row in values], [column.mean() for column in values.T]
    of_samples = sum((c - mean) ** 2 for c in columns) / (samples - 1) / samples
    if not crossed:
        return np.sqrt(of_samples), samples - 1
    of_seeds = sum((r - mean) ** 2 for r in rows) / (seeds - 1) / seeds
    left = sum((values[i, j] - rows[i] - columns[j] + mean) ** 2 for i in range(seeds) for j in range(samples))
    both = (seeds - 1) * (samples - 1)
    noise = min(left / both / (seeds * samples), of_samples, of_seeds)
    total = of_samples + of_seeds - noise
    freedom = total**2 / (of_samples**2 / (samples - 1) + of_seeds**2 / (seeds - 1) + noise**2 / both)
    return np.sqrt(total), freedom


def slow_interval(values, crossed, resamples):
    """The stretched percentile interval of one score, drawn value by value: values (S, N)."""
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
    error, freedom = (found[0] for found in standard_error(values[:, :, None], crossed))
    stretch = t.ppf(0.975, freedom) / norm.ppf(0.975) * error / np.std(means)
    middle = np.mean([value for value in values.ravel() if np.isfinite(value)])
    return middle + (np.quantile(means, [0.025, 0.975]) - middle) * stretch


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("seeds", [2, 3])
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
    monkeypatch.setattr(bootstrap, "_BLOCK", 11 * 7)
    np.testing.assert_allclose(whole, bootstrap_interval(values, resamples=50), rtol=1e-12)


def test_interval_of_too_few_samples_is_unknown():
    values = np.full((1, 6, 3), np.nan)
    values[0, 2, 1] = 0.5
    values[0, :2, 2] = 0.5
    low, high = bootstrap_interval(values)
    np.testing.assert_array_equal(low, [np.nan, np.nan, 0.5])
    np.testing.assert_array_equal(high, [np.nan, np.nan, 0.5])


@given(arrays(float, (2, 8, 1), elements=st.integers(-100, 100).map(float)), st.floats(0.1, 10), st.floats(-5, 5))
def test_interval_moves_with_the_scores(values, scale, shift):
    low, high = bootstrap_interval(values, resamples=40, shares=False)
    moved_low, moved_high = bootstrap_interval(values * scale + shift, resamples=40, shares=False)
    np.testing.assert_allclose([moved_low, moved_high], np.array([low, high]) * scale + shift, atol=1e-6)
    assert low - 1e-9 <= values.mean() <= high + 1e-9


@pytest.mark.parametrize("crossed", [False, True])
def test_standard_error_equals_slow_loop(crossed):
    rng = np.random.default_rng(8)
    values = rng.random((5, 9, 6)) + np.array([0, 0, 1, 1, 3, 0]) * rng.random((5, 1, 6))
    error, freedom = standard_error(values, crossed)
    for column in range(6):
        np.testing.assert_allclose([error[column], freedom[column]], slow_error(values[:, :, column], crossed))


def test_standard_error_of_one_training_is_the_usual_one():
    values = np.random.default_rng(9).random((1, 30, 2))
    for crossed in (False, True):
        error, freedom = standard_error(values, crossed)
        np.testing.assert_allclose(error, values[0].std(axis=0, ddof=1) / np.sqrt(30))
        np.testing.assert_array_equal(freedom, [29, 29])


def test_missing_values_hardly_change_a_standard_error():
    rng = np.random.default_rng(10)
    values = rng.normal(size=(6, 1, 40)) + rng.normal(size=(1, 200, 40)) + rng.normal(size=(6, 200, 40))
    whole = standard_error(values, True)[0]
    values[rng.random(values.shape) < 0.05] = np.nan
    np.testing.assert_allclose(standard_error(values, True)[0], whole, rtol=0.1)


STUDIES = 1500
ERROR = np.sqrt(0.95 * 0.05 / STUDIES)


def coverage(values, truth, **options):
    """Share of the columns' intervals that hold the true mean."""
    low, high = bootstrap_interval(values, resamples=400, **options)
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.parametrize("samples", [50, 200])
@pytest.mark.parametrize(
    ("draw", "truth", "slack"),
    [
        (lambda rng, shape: rng.normal(size=shape), 0.0, 0.0),
        (lambda rng, shape: rng.beta(2, 1, shape), 2 / 3, 0.0),
        (lambda rng, shape: rng.exponential(size=shape), 1.0, 1.5),
    ],
    ids=["normal", "beta", "exponential"],
)
def test_coverage_over_samples(samples, draw, truth, slack):
    """Nominal within three standard errors, and a slack of c / N for N samples.

    An interval that knows the skew of
    a mean only as well as its samples show it misses by a multiple of skew^2 / N: for exponential
    scores (skew 2) Student's own interval misses by 0.02 to 0.03 at 50 samples.
    """
    rng = np.random.default_rng(5)
    values = draw(rng, (1, samples, STUDIES)).astype(float)
    assert abs(coverage(values, truth) - 0.95) < 3 * ERROR + slack / samples


def trainings(seeds, samples, of_seeds, of_samples, noise, random_seed=6):
    rng = np.random.default_rng(random_seed)
    shapes = {(seeds, 1): of_seeds, (1, samples): of_samples, (seeds, samples): noise}
    return sum(size * rng.normal(size=(*shape, STUDIES)) for shape, size in shapes.items())


@pytest.mark.parametrize("seeds", [5, 8])
@pytest.mark.parametrize(
    ("of_seeds", "of_samples", "noise"),
    [(1, 0.1, 0.1), (1, 1, 1), (1, 0.3, 3), (0.3, 1, 1), (0, 1, 1)],
    ids=["seeds dominate", "mixed", "noisy", "samples dominate", "seeds alike"],
)
def test_crossed_coverage(seeds, of_seeds, of_samples, noise):
    """Nominal within three standard errors, whichever of seeds, samples and noise dominates.

    Slack of 0.015: Satterthwaite's degrees of freedom are estimated from a variance of four to seven
    degrees itself, which matters where seeds and samples contribute alike.
    """
    found = coverage(trainings(seeds, 60, of_seeds, of_samples, noise), 0.0)
    assert abs(found - 0.95) < 3 * ERROR + 0.015


def test_crossed_coverage_with_missing_values():
    """Slack of 0.015 as above: a fifth of the values is missing at random."""
    values = trainings(5, 60, 1, 1, 1)
    values[np.random.default_rng(7).random(values.shape) < 0.2] = np.nan
    values = values[:, :, : STUDIES // 3]  # each with resamples of its own: slow
    assert abs(coverage(values, 0.0) - 0.95) < 3 * np.sqrt(3) * ERROR + 0.015


def test_intervals_are_rather_wide_where_there_is_nothing_but_noise():
    found = coverage(trainings(5, 60, 0, 0, 1), 0.0)
    assert 0.95 - 3 * ERROR < found < 1.0


def test_percentiles_alone_would_not_do():
    means = bootstrap._resampled_means(trainings(5, 60, 1, 0.1, 0.1), True, 400, 0)
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    assert np.mean((low <= 0) & (high >= 0)) < 0.90


def test_conditional_interval_does_not_cover_other_trainings():
    assert coverage(trainings(12, 40, 1, 1, 1), 0.0, crossed=False) < 0.75
