"""The spread between trainings against a two-way analysis of variance by loops."""

from itertools import combinations
import numpy as np
import pytest
from scipy.stats import f
from salgen.evaluation.statistics.training_noise import training_noise, training_variances

S, G, SIZE = 3, 8, 5
CLUSTERS = np.repeat(np.arange(G), SIZE)


def drawn(methods, rng, common=0.0, own=0.0, constant=()):
    values = rng.normal(size=(1, G * SIZE, methods)) + 0.5 * rng.normal(size=(S, G * SIZE, methods))
    values = values + common * rng.normal(size=(S, 1, 1)) + own * rng.normal(size=(S, 1, methods))
    for method in constant:
        values[:, :, method] = values[:1, :, method]
    return values


def slow_interaction(scores):
    """The variance of the mean over seeds that seeds and clusters together make, of scores (S, N)."""
    means = [[scores[s, g == CLUSTERS].mean() for g in range(G)] for s in range(S)]
    grand = np.mean(means)
    total = 0.0
    for s in range(S):
        for g in range(G):
            total += (means[s][g] - np.mean(means[s]) - np.mean([row[g] for row in means]) + grand) ** 2
    return total / ((S - 1) * (G - 1)) / (S * G)


def test_the_variance_of_one_method_is_that_of_loops_or_none():
    values = drawn(3, np.random.default_rng(0), own=0.4)
    found = training_variances(values, CLUSTERS)
    for method in range(3):
        scores = values[:, :, method]
        of_means = np.var([row.mean() for row in scores], ddof=1) / S
        assert found[method] == pytest.approx(max(of_means - slow_interaction(scores), 0.0))
    values = drawn(3, np.random.default_rng(2), constant=(0, 1, 2))
    assert not training_noise(values, CLUSTERS).error.any()
    one = drawn(2, np.random.default_rng(3), own=1.0, constant=(1,))
    noise = training_noise(one, CLUSTERS)
    spread = np.var(one[:, :, 0].mean(axis=1), ddof=1) / S
    assert noise.error[0, 1] ** 2 == pytest.approx(spread - slow_interaction(one[:, :, 0] - one[:, :, 1]))
    assert noise.freedom[0, 1] == S - 1


def slow_pooled(means, kind):
    """Variance of a difference of seeds' means, pooled over methods (S, m), and its degrees of freedom."""
    methods = means.shape[1]
    centred = means - means.mean(axis=0)
    of_seeds = sum(methods * row.mean() ** 2 for row in centred) / (S - 1)
    degrees = (S - 1) * (methods - 1)
    interaction = sum((centred[s, k] - centred[s].mean()) ** 2 for s in range(S) for k in range(methods)) / degrees
    if kind == 2:
        return 2 * interaction, degrees
    first, second = of_seeds / methods, (1 - 1 / methods) * interaction
    return first + second, (first + second) ** 2 / (first**2 / (S - 1) + second**2 / degrees)


@pytest.mark.parametrize("common", [0.0, 1.0])
def test_the_noise_of_pairs_is_that_of_loops(common):
    methods, constant = 5, (4,)
    values = drawn(methods, np.random.default_rng(1), common, 0.6, constant)
    found = training_noise(values, CLUSTERS)
    means = values.mean(axis=1)
    pairs = list(combinations(range(methods), 2))
    for kind in (1, 2):
        of_kind = [pair for pair in pairs if sum(k not in constant for k in pair) == kind]
        sampled = np.mean([slow_interaction(values[:, :, a] - values[:, :, b]) for a, b in of_kind])
        pooled, degrees = slow_pooled(means[:, :4], kind)
        for a, b in of_kind:
            own = np.var(means[:, a] - means[:, b], ddof=1) / S
            assert found.error[a, b] ** 2 == pytest.approx(max(max(own, pooled / S) - sampled, 0.0))
            assert found.freedom[a, b] == pytest.approx(degrees)
            assert (found.error[b, a], found.freedom[b, a]) == (found.error[a, b], found.freedom[a, b])


@pytest.mark.parametrize("spread", [0.0, 30.0])
def test_pairs_of_a_method_that_varies_more_than_the_others_have_its_own_degrees_of_freedom(spread):
    """The method less the mean of the others, against the rest of the interaction."""
    values = drawn(6, np.random.default_rng(6), common=1.0, own=0.6, constant=(5,))
    values[:, :, 0] += spread * np.array([-0.5, 1.5, -1.0])[:, None]
    means = values.mean(axis=1)[:, :5]
    outlying = []
    for method in range(5):
        contrast = means[:, method] - np.delete(means, method, axis=1).mean(axis=1)
        others = np.delete(means, method, axis=1)
        rest = others - others.mean(axis=0) - others.mean(axis=1, keepdims=True) + others.mean()
        ratio = np.var(contrast, ddof=1) / (1 + 1 / 4) / ((rest**2).sum() / ((S - 1) * 3))
        outlying.append(f((S - 1), (S - 1) * 3).sf(ratio) < 0.05 / 5)
    assert outlying == [spread > 1.0, False, False, False, False]
    found = training_noise(values, CLUSTERS)
    for a, b in combinations(range(6), 2):
        kind = 1 + (5 not in (a, b))
        assert found.freedom[a, b] == pytest.approx(S - 1 if a == 0 and spread > 1.0 else slow_pooled(means, kind)[1])


def test_undefined_scores_and_trainings_without_values_are_left_out():
    values = drawn(3, np.random.default_rng(4), own=0.5)
    values[1, 7] = np.nan
    again = np.where(np.isnan(values), 123.0, values)
    again[1, 7] = np.nan
    np.testing.assert_array_equal(training_noise(values, CLUSTERS).error, training_noise(again, CLUSTERS).error)
    assert np.isfinite(training_variances(values, CLUSTERS)).all()
    values = drawn(3, np.random.default_rng(5), own=0.5)
    values[0, :, 1] = np.nan
    values[1:, :, 2] = np.nan
    found = training_variances(values, CLUSTERS)
    np.testing.assert_allclose(found[:1], training_variances(values[:, :, :1], CLUSTERS))
    np.testing.assert_allclose(found[1:2], training_variances(values[1:, :, 1:2], CLUSTERS))
    assert found[2] == 0
