"""Mean ranks, Friedman's test, Nemenyi's difference and cliques against scipy, loops and printed tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import friedmanchisquare, rankdata
from salgen.evaluation.statistics.comparison_groups import Family
from salgen.evaluation.statistics.ranks import (
    cliques,
    cluster_ranks,
    critical_difference,
    friedman,
    mean_ranks,
    rank_family,
)

WHOLE = arrays(float, (9, 4), elements=st.integers(0, 3).map(float))
DEMSAR_2006_TABLE_5 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]


def slow_ranks(values, higher):
    found = np.empty(values.shape)
    for row, ranks in zip(values, found, strict=True):
        for place, value in enumerate(row):
            before = sum(other > value if higher else other < value for other in row)
            ranks[place] = before + (1 + sum(other == value for other in row)) / 2
    return found


@given(WHOLE, st.booleans())
def test_ranks_equal_slow_loop(values, higher):
    np.testing.assert_array_equal(cluster_ranks(values / 10, higher), slow_ranks(values, higher))


def test_ranks_do_not_tell_rounding_apart():
    np.testing.assert_array_equal(cluster_ranks(np.array([[0.1 + 0.2, 0.3, 0.0]]), True), [[1.5, 1.5, 3]])
    np.testing.assert_array_equal(cluster_ranks(np.zeros((1, 2)), True), [[1.5, 1.5]])


@pytest.mark.parametrize("huge", [np.full(9, 1e13), np.where(np.arange(9) == 0, 1e15, 1.5)], ids=["all", "one"])
def test_a_huge_score_makes_no_ties_of_others(huge):
    pair = np.random.default_rng(2).normal([1.0, 2.0], 0.1, (9, 2))
    together = cluster_ranks(np.column_stack([pair, huge]), False)
    np.testing.assert_array_equal(together[:, 0] < together[:, 1], pair[:, 0] < pair[:, 1])
    np.testing.assert_array_equal(together[:, 0] > together[:, 1], pair[:, 0] > pair[:, 1])
    np.testing.assert_array_equal(together, slow_ranks(np.column_stack([pair, huge]), False))


@given(WHOLE)
def test_friedman_equals_scipy(values):
    found = friedman(cluster_ranks(values, True))
    if (values == values[:, :1]).all():
        assert found == (0.0, 1.0)
    else:
        np.testing.assert_allclose(found, friedmanchisquare(*values.T), rtol=1e-9, atol=1e-12)


def test_critical_difference_has_the_printed_values():
    for methods, q in enumerate(DEMSAR_2006_TABLE_5, start=2):
        expected = q * np.sqrt(methods * (methods + 1) / (6 * 14))
        assert critical_difference(methods, 14) == pytest.approx(expected, rel=3e-4)


def slow_cliques(ranks, difference):
    """All runs whose ends are close enough and which no longer such run contains."""
    count = len(ranks)
    near = [(i, j) for i in range(count) for j in range(i + 2, count + 1) if ranks[j - 1] - ranks[i] < difference]
    return [(i, j) for i, j in near if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in near)]


@given(st.lists(st.integers(0, 30), max_size=9), st.integers(1, 12))
def test_cliques_equal_slow_search(ranks, difference):
    ranks = np.sort(np.array(ranks, dtype=float))
    assert cliques(ranks, difference) == slow_cliques(ranks, difference)


def family_of(values, higher=True, clusters=None):
    """Methods a, b, ... with scores (N, K), each sample its own cluster by default."""
    keys = [(name, "sum") for name in "abcde"[: values.shape[1]]]
    clusters = np.arange(len(values)) if clusters is None else clusters
    return Family("all", "cnn", "roc-auc", "region:image", higher, keys, values, values[None], clusters)


@pytest.mark.parametrize("higher", [True, False])
def test_a_family_by_mean_rank(higher):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 5)) + np.array([0, 3, 1, 3.1, 6])
    family = family_of(values, higher)
    family.values[7] = np.nan
    found = rank_family(family)
    values = np.delete(values, 7, axis=0)
    means = slow_ranks(values, higher).mean(axis=0)
    np.testing.assert_allclose(found.ranks, np.sort(means))
    assert [key[0] for key in found.keys] == ["abcde"[i] for i in np.argsort(means)]
    assert found.clusters == 59
    np.testing.assert_allclose([found.statistic, found.p_value], friedmanchisquare(*values.T))
    groups = [{key[0] for key in found.keys[start:stop]} for start, stop in found.cliques]
    assert {"b", "d"} in groups
    assert not any({"a", "e"} <= group for group in groups)


def test_samples_of_a_cluster_are_ranked_together():
    """By the mean over their samples: ten copies of each sample change nothing but the number of samples."""
    values = np.random.default_rng(3).normal(size=(30, 4))
    copied = family_of(np.repeat(values, 10, axis=0), clusters=np.repeat(np.arange(30), 10))
    first, second = rank_family(family_of(values)), rank_family(copied)
    assert first.clusters == second.clusters == 30
    assert (first.p_value, first.critical_difference) == (second.p_value, second.critical_difference)


def test_mean_ranks_of_a_small_table():
    scores = np.array([[0.9, 0.1, 0.5, np.nan], [0.8, 0.3, 0.5, np.nan], [np.nan, 0.2, 0.1, np.nan]])
    ranks = mean_ranks(scores, np.array([True, False, True, True]))
    np.testing.assert_allclose(ranks, [(1 + 1 + 1.5) / 3, (2 + 3 + 1.5) / 3, (3 + 2 + 3) / 3])
    assert np.isnan(mean_ranks(np.full((2, 2), np.nan), np.array([True, True]))).all()


@given(arrays(float, (5, 3), elements=st.integers(0, 4).map(float)))
def test_mean_ranks_share_out_all_places(scores):
    ranks = mean_ranks(scores, np.array([True, True, True]))
    assert ranks.sum() == pytest.approx(15)
    np.testing.assert_allclose(ranks, np.mean([rankdata(-column) for column in scores.T], axis=0))
