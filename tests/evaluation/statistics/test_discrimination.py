"""AUROC of models against scikit-learn and by pairs, its interval by a grid, and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from salgen.evaluation.statistics.discrimination import Discrimination

Z = 1.959963984540054
COUNTS = st.integers(1, 12)


def of(positive, negative, seeds=None):
    values = np.array([*positive, *negative], dtype=float)
    groups = np.arange(len(values)) < len(positive)
    return Discrimination.of(values, groups, np.arange(len(values)) if seeds is None else np.asarray(seeds))


@given(st.lists(st.integers(0, 6), min_size=1, max_size=9), st.lists(st.integers(0, 6), min_size=1, max_size=9))
def test_auroc_is_that_of_scikit_learn_and_of_pairs(positive, negative):
    labels = [1] * len(positive) + [0] * len(negative)
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    found = of(positive, negative)
    assert found.auroc == pytest.approx(roc_auc_score(labels, positive + negative))
    assert found.auroc == pytest.approx(sum(pairs) / len(pairs))
    assert (found.positives, found.negatives) == (len(positive), len(negative))
    assert of(negative, positive).auroc == pytest.approx(1 - found.auroc)


def accepted(auroc, m, n, effect, theta):
    """Newcombe's method 5, written from the paper: whether θ is in the interval."""
    star = (m + n) / 2 - 1
    variance = theta * (1 - theta) * (1 + star * (1 - theta) / (2 - theta) + star * theta / (1 + theta)) / (m * n)
    return (auroc - theta) ** 2 <= Z**2 * effect * variance


@given(st.integers(0, 100), COUNTS, COUNTS, st.floats(1, 4))
def test_the_interval_is_what_a_grid_accepts(percent, m, n, effect):
    low, high = Discrimination(percent / 100, m, n, 5, effect).interval()
    grid = np.linspace(0, 1, 2001)
    inside = [theta for theta in grid if accepted(percent / 100, m, n, effect, theta)]
    if m + n > 2:  # with one model each the variance is not that of the paper
        assert low == pytest.approx(inside[0], abs=6e-4)
        assert high == pytest.approx(inside[-1], abs=6e-4)
    assert low <= percent / 100 <= high
    mirrored = Discrimination(1 - percent / 100, n, m, 5, effect).interval()
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-7)


def test_the_design_effect_is_the_variance_of_seeds_over_that_of_models_and_one_without_a_group():
    random = np.random.default_rng(0)
    positive, negative = random.normal(1, 1, 6), random.normal(0, 1, 4)
    seeds = np.array([0, 1, 0, 1, 2, 2, 0, 1, 2, 2])
    found = of(positive, negative, seeds)
    of_models, of_seeds = 0.0, [0.0, 0.0, 0.0]
    for own, other, sign, members in ((positive, negative, 1, seeds[:6]), (negative, positive, -1, seeds[6:])):
        parts = [np.mean([0.5 + 0.5 * np.sign(sign * (a - b)) for b in other]) - found.auroc for a in own]
        of_models += np.var(parts, ddof=1) / len(own)
        for part, seed in zip(parts, members, strict=True):
            of_seeds[seed] += part / len(own)
    assert found.design_effect == pytest.approx(max(1, 3 / 2 * np.sum(np.square(of_seeds)) / of_models))
    assert found.seeds == 3
    one = of([0.4], [0.2], [0, 0])
    assert one.design_effect == 1.0
    assert one.interval()[0] < 0.3
    assert Discrimination(0.5, 1, 1, 5, 1.0).trainings(1e-4, 1) is None  # more than are tried are not stated
    for positive, negative in (([], [1, 2]), ([1, 2], []), ([], [])):
        found = of(positive, negative)
        assert np.isnan([found.auroc, *found.interval()]).all()
        assert found.trainings(0.1, 3) is None


@given(st.floats(0, 1), COUNTS, COUNTS, st.floats(1, 3), st.sampled_from([0.05, 0.1, 0.2]))
def test_so_many_trainings_suffice_and_one_fewer_does_not(auroc, m, n, effect, half_width):
    found, now = Discrimination(auroc, m, n, 5, effect), 5
    needed = found.trainings(half_width, now)

    def half(trainings):
        low, high = found.interval(times=trainings / now)
        return (high - low) / 2

    assert half(needed) <= half_width
    least = -(-now // min(m, n))
    assert needed == least or half(needed - 1) > half_width
