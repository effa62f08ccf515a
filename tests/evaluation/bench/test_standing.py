"""The order of methods over data sets, computed a second time by hand, and its interval's coverage."""

import math
import statistics
import warnings
from itertools import combinations
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.evaluation.bench.standing import standing
from salgen.evaluation.statistics.permutation import stepdown_p_values

METHODS = ["a", "b", "c", "d"]


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(7, 3, 2, 4)) + np.array([0.0, 2.0, 1.0, 0.5])
    values[:, 2] = np.where(np.arange(7)[:, None, None] < 3, values[:, 2], np.nan)  # a family of three data sets
    values[0, :, :, 3] = np.nan  # a method that is not defined on one of them
    return values


def slow_place(scores, method):
    """Of one metric and training: the share of the other methods that are better, ties counting half."""
    own, others = scores[method], [s for m, s in enumerate(scores) if m != method and not math.isnan(s)]
    if math.isnan(own) or not others:
        return math.nan
    return sum(1.0 if other > own else 0.5 if other == own else 0.0 for other in others) / len(others)


def mean(numbers):
    numbers = [number for number in numbers if not math.isnan(number)]
    return sum(numbers) / len(numbers) if numbers else math.nan


def slow_places(values, method):
    by_family = [[mean([slow_place(s, method) for s in family]) for family in dataset] for dataset in values.tolist()]
    return [mean(places) for places in by_family]


def test_places_are_those_of_the_definition(values):
    found = standing(values, METHODS)
    rows = zip(found.methods, found.places, found.low, found.high, found.datasets, strict=True)
    for method, place, low, high, count in rows:
        of_datasets = [p for p in slow_places(values, METHODS.index(method)) if not math.isnan(p)]
        assert place == pytest.approx(mean(of_datasets))
        assert count == len(of_datasets) == (6 if method == "d" else 7)
        half = {6: 2.5706, 7: 2.4469}[count] * statistics.stdev(of_datasets) / math.sqrt(count)
        assert (low, high) == pytest.approx((max(0.0, place - half), min(1.0, place + half)), abs=1e-4)
    assert found.places[:3].tolist() == sorted(found.places[:3])
    assert found.methods[0] == "b"
    assert found.methods[3] == "d", "a method that lacks a data set stands after the others"
    for number, method in enumerate(found.methods):
        m = METHODS.index(method)
        assert found.by_dataset[number] == pytest.approx(slow_places(values, m), nan_ok=True)
        for family in range(3):
            of_family = [mean([slow_place(scores, m) for scores in dataset[family]]) for dataset in values.tolist()]
            assert found.by_metric[number, family] == pytest.approx(mean(of_family))


def test_methods_are_told_apart_by_their_places_on_each_data_set(values):
    found = standing(values, METHODS)
    places = np.array([slow_places(values, method) for method in range(3)]).T
    for (first, second), p_value in zip(combinations(range(3), 2), stepdown_p_values(places), strict=True):
        row, column = (found.methods.index(METHODS[m]) for m in (first, second))
        assert found.p_values[row, column] == found.p_values[column, row] == pytest.approx(p_value)
    assert np.isnan(found.p_values[found.methods.index("d")]).all()


@given(st.permutations(range(4)), st.permutations(range(5)), st.floats(0.1, 10), st.floats(-5, 5))
def test_it_depends_on_no_order_and_on_no_scale(methods, datasets, factor, offset):
    values = np.random.default_rng(1).normal(size=(5, 2, 3, 4)).round(1)
    first = standing(values, METHODS)
    second = standing((values * factor + offset)[datasets][..., methods], [METHODS[m] for m in methods])
    found, again = (dict(zip(one.methods, one.places, strict=True)) for one in (first, second))
    assert again == pytest.approx(found)


def test_a_method_that_is_always_best_has_the_place_0():
    values = np.random.default_rng(2).normal(size=(10, 4, 3, 4))
    values[..., 2] += 100
    found = standing(values, METHODS)
    assert (found.methods[0], found.places[0], found.low[0], found.high[0]) == ("c", 0, 0, 0)
    assert (found.share_first[0], found.rank_low[0], found.rank_high[0]) == (1.0, 1.0, 1.0)
    assert found.share_first.sum() == pytest.approx(1.0)
    assert found.places.mean() == pytest.approx(0.5)
    assert (found.p_values[0, 1:] < 0.05).all()
    different = (found.p_values[np.triu_indices(4, 1)] <= 0.05).sum()
    assert found.told_apart == f"{different} of 6 pairs of methods differ at 5 %."


def test_one_data_set_has_no_interval_and_no_test():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = standing(np.random.default_rng(3).normal(size=(1, 2, 3, 4)), METHODS)
    assert np.isnan(found.low).all()
    assert np.isnan(found.p_values).all()
    assert found.told_apart == "With fewer than six data sets no test can tell methods apart."


def test_the_interval_covers_the_place_over_all_data_sets():
    """Ten data sets of a population in which each favours methods of its own."""
    rng = np.random.default_rng(4)

    def drawn(datasets):
        favour = rng.normal(size=(datasets, 1, 1, 6)) + np.linspace(0, 1.5, 6)
        return favour + 0.5 * rng.normal(size=(datasets, 2, 3, 6))

    names = list("abcdef")
    truth = standing(drawn(1500), names)
    expected = dict(zip(truth.methods, truth.places, strict=True))
    covered = []
    for _ in range(100):
        found = standing(drawn(10), names)
        inside = zip(found.methods, found.low, found.high, strict=True)
        covered += [low <= expected[name] <= high for name, low, high in inside]
    assert 0.92 < np.mean(covered) < 0.98


def test_equal_methods_share_the_first_rank_and_one_that_lacks_a_data_set_has_none(values):
    values[..., 1] = values[..., 0]
    found = standing(values, METHODS)
    place = {method: number for number, method in enumerate(found.methods)}
    assert found.share_first[place["a"]] == found.share_first[place["b"]]
    assert np.isnan([found.share_first[place["d"]], found.rank_low[place["d"]], found.rank_high[place["d"]]]).all()


def test_the_range_of_ranks_is_that_of_draws_by_hand():
    """Two data sets on which two methods win in turn: half of the draws have one of each and tie."""
    values = np.zeros((2, 1, 1, 2))
    values[0, 0, 0, 0] = values[1, 0, 0, 1] = 1.0
    found = standing(values, ["a", "b"])
    assert found.share_first == pytest.approx([0.75, 0.75], abs=0.05)
    assert found.rank_low.tolist() == [1.0, 1.0]
    assert found.rank_high.tolist() == [2.0, 2.0]


def test_draws_are_of_the_trainings_that_have_values(values):
    """On one data set the first training has none, as where no image is certified under it."""
    values = values[:, :, :, :3]
    values[0, :, 0] = np.nan
    found = standing(values, METHODS[:3])
    assert not np.isnan([found.share_first, found.rank_low, found.rank_high]).any()
    values[0, :, 0] = values[0, :, 1]
    again = standing(values, METHODS[:3])
    assert found.share_first == pytest.approx(again.share_first, abs=0.05)


def test_the_first_method_is_compared_with_those_that_have_a_test():
    values = np.random.default_rng(0).normal(size=(6, 2, 3, 4))
    values[..., 0] += 100
    values[0, :, :, 3] = np.nan
    found = standing(values, METHODS)
    undecided = sum(p > 0.05 for p in found.p_values[0] if not math.isnan(p))
    assert found.first_against_others == f"The tests do not tell it apart from {undecided} of 2 others."
    assert standing(values[:5], METHODS).first_against_others.startswith("It is compared with no other")
