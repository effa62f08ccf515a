"""The step-down correction of sign flips, written a second time, its laws, and its simulated error rate."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from salgen.evaluation.statistics.stepdown import stepdown_p_values


def slow_p_values(values):
    """Westfall & Young 1993, algorithm 2.8, by all patterns of signs: of each pair in its order."""
    clusters, methods = len(values), len(values[0])
    pairs = list(combinations(range(methods), 2))
    differences = {pair: [row[pair[0]] - row[pair[1]] for row in values] for pair in pairs}
    observed = {pair: abs(sum(differences[pair])) for pair in pairs}
    ordered = sorted(pairs, key=observed.get, reverse=True)
    patterns = list(product([-1, 1], repeat=clusters))
    p_values, highest = {}, 0.0
    for place, pair in enumerate(ordered):
        hits = 0
        for pattern in patterns:
            flipped = [abs(sum(s * d for s, d in zip(pattern, differences[p], strict=True))) for p in ordered[place:]]
            hits += max(flipped) >= observed[pair] - 1e-9
        highest = max(highest, hits / len(patterns))
        p_values[pair] = highest
    return [p_values[pair] for pair in pairs]


tables = st.integers(6, 7).flatmap(
    lambda clusters: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=4, max_size=4), min_size=clusters, max_size=clusters
    )
)


@given(tables)
def test_p_values_are_those_of_the_definition(values):
    assert stepdown_p_values(np.array(values)).tolist() == pytest.approx(slow_p_values(values))


@given(tables)
def test_of_two_methods_it_is_the_sign_flip_test(values):
    two = np.array(values)[:, :2]
    difference = two[:, 0] - two[:, 1]
    signs = np.array(list(product([-1, 1], repeat=len(two))))
    expected = (np.abs(signs @ difference) >= abs(difference.sum()) - 1e-9).mean()
    assert stepdown_p_values(two) == pytest.approx([expected])


@given(tables, st.permutations(range(4)))
def test_the_order_of_methods_does_not_matter(values, order):
    table = np.array(values)
    first, second = np.triu_indices(4, 1)
    square = np.ones((4, 4))
    square[first, second] = square[second, first] = stepdown_p_values(table)
    other = np.ones((4, 4))
    other[first, second] = other[second, first] = stepdown_p_values(table[:, order])
    assert other == pytest.approx(square[np.ix_(order, order)])


def test_a_method_that_always_wins_differs_from_all_others_however_many():
    values = np.random.default_rng(0).uniform(size=(6, 40))
    values[:, 0] = 3.0
    p_values = stepdown_p_values(values)[:39]  # the pairs of the first method
    assert p_values == pytest.approx(2 / 2**6)


def test_five_clusters_say_nothing():
    assert np.isnan(stepdown_p_values(np.random.default_rng(0).uniform(size=(5, 3)))).all()


def test_alike_methods_are_told_apart_in_one_of_twenty_tables_at_most():
    rng = np.random.default_rng(1)
    wrong = [(stepdown_p_values(rng.uniform(size=(8, 12)).argsort(axis=1)) <= 0.05).any() for _ in range(400)]
    assert np.mean(wrong) < 0.05 + 3 * 0.0109  # three standard errors of a share of 0.05


def test_random_patterns_give_nearly_what_all_of_them_give(monkeypatch):
    values = np.random.default_rng(2).uniform(size=(12, 4)) + np.array([0.0, 0.1, 0.2, 0.4])
    exact = stepdown_p_values(values)
    monkeypatch.setattr("salgen.evaluation.statistics.stepdown.MOST_CLUSTERS", 11)
    assert stepdown_p_values(values) == pytest.approx(exact, abs=0.02)
    assert stepdown_p_values(values + np.array([0.0, 0.0, 0.0, 9.0])).min() >= 1e-4
