"""Comparisons of methods: their numbers by loops, families, verdicts."""

import math
from dataclasses import replace
from itertools import combinations
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from score_rows import score_cube, score_rows
from salgen.evaluation.statistics.comparison_groups import Family, families, family, is_ceiling
from salgen.evaluation.statistics.comparisons import compare_families, effect_sizes, holm, indistinguishable, not_better
from salgen.evaluation.statistics.permutation import sign_flip_p_values
from salgen.evaluation.statistics.training_noise import training_noise

METHODS = {"gradient": 0.6, "smoothgrad": 0.6, "grad-cam": 0.9, "sobel": 0.5, "oracle": 1.0, "oracle-7x7": 0.95}
IMAGE = "region:image"


def compare(rows, metric="roc-auc", variant=IMAGE):
    """All pairs of one family of rows; none where there is no family."""
    found = family(score_cube(pa.Table.from_pylist(rows)), "cnn", metric, variant)
    return [] if found is None else compare_families([found])


def scores(seeds=(0,), samples=30, methods=METHODS, size=1, **axes):
    """Rows in which sample 2 has no usable mask and the map of gradient on sample 3 failed."""
    rng = np.random.default_rng(0)

    def of(row, i):
        value = METHODS[row["method"]] + 0.02 * rng.normal() + 0.01 * row["training_seed"]
        fails = i == 3 and row["method"] == "gradient"
        return {
            "cluster": f"test-{i:03d}" if size == 1 else f"object-{i // size}",
            "value": math.nan if i == 2 or fails else value,
            "value_worst_case": math.nan if i == 2 else 0.0 if fails else value,
            "correct": i % 7 != 0,
            "certified": i % 2 == 0,
        }

    return score_rows(of, samples, seeds=seeds, methods=methods, **axes)


def cube_of(**options):
    return score_cube(pa.Table.from_pylist(scores(**options)))


def sample_means(rows, method):
    """value_worst_case by sample, over training seeds, by loops."""
    found = {}
    for row in rows:
        if row["method"] == method and math.isfinite(row["value_worst_case"]):
            found.setdefault(row["sample_id"], []).append(row["value_worst_case"])
    return np.array([np.mean(values) for _, values in sorted(found.items())])


@pytest.mark.parametrize("seeds", [(0,), (0, 1, 5)])
def test_numbers_of_each_pair_are_those_of_loops(seeds):
    rows = scores(seeds=seeds)
    found = compare(rows)
    pairs = list(combinations(["gradient", "smoothgrad", "grad-cam", "sobel"], 2))
    assert [(row.method_a, row.method_b) for row in found] == pairs
    for row in found:
        a, b = (sample_means(rows, method) for method in (row.method_a, row.method_b))
        assert (row.n_samples, row.n_clusters, row.n_trainings) == (len(a), 29, len(seeds))
        assert row.difference == pytest.approx(np.mean(a - b))
        assert row.effect_size == pytest.approx(np.mean(a - b) / np.std(a - b, ddof=1))
        assert row.win_share == pytest.approx(
            np.mean([1 if x > y else 0.5 if x == y else 0 for x, y in zip(a, b, strict=True)])
        )
        if len(seeds) == 1:
            assert row.p_value == pytest.approx(sign_flip_p_values([np.stack([a, b], 1)])[0][0], abs=0.02)
    np.testing.assert_allclose([row.p_holm for row in found], holm(np.array([row.p_value for row in found])))


def test_verdicts_but_none_of_two_trainings():
    """They differ by much or by little by chance: simulated, .158 of families of like methods had a difference."""
    found = compare(scores(seeds=(0, 5)))
    assert np.isnan([(row.p_value, row.p_holm) for row in found]).all()
    assert {row.n_trainings for row in found} == {2}
    assert not any(row.significant() for row in found)
    found = compare(scores())
    best, floor = ("grad-cam", "sum"), ("sobel", "sum")
    assert indistinguishable(found, best) == []
    assert indistinguishable(found, ("gradient", "sum")) == [("smoothgrad", "sum")]
    assert not_better(found, floor) == []
    assert not_better(found, ("smoothgrad", "sum")) == [("gradient", "sum"), ("sobel", "sum")]


def test_a_low_value_can_be_the_better_one():
    (row,) = compare(scores(metrics=["average-drop"], methods=["grad-cam", "sobel"]), "average-drop")
    assert row.difference > 0
    assert row.win_share == 0.0
    assert row.better == ("sobel", "sum")


def pair_of(values, clusters=None):
    """Two methods with scores (N, 2), each sample its own cluster by default."""
    clusters = np.arange(len(values)) if clusters is None else clusters
    return Family("all", "cnn", "roc-auc", IMAGE, True, [("a", "sum"), ("b", "sum")], values, values[None], clusters)


def test_scores_that_differ_by_rounding_are_half_a_win():
    """Two methods have 0.1 + 0.2 and 0.3 on half of the samples: neither wins there."""
    values = np.column_stack([np.full(8, 0.1 + 0.2), np.where(np.arange(8) < 4, 0.3, 0.4)])
    one = pair_of(values)
    (row,) = compare_families([one])
    assert row.win_share == 0.25
    (whole,) = compare_families([replace(one, values=np.column_stack([values[:, 0], np.full(8, 0.3)]))])
    assert (whole.win_share, whole.difference, whole.effect_size, whole.p_value) == (0.5, 0.0, 0.0, 1.0)
    assert whole.better is None


def test_ceilings_diagnostics_and_methods_without_values_are_not_compared():
    keys = [key for key, _ in family(cube_of(), "cnn", "roc-auc", IMAGE).keys]
    assert keys == ["gradient", "smoothgrad", "grad-cam", "sobel"]
    assert is_ceiling("oracle-7x7")
    assert not is_ceiling("sobel")
    assert compare(scores(methods=["gradient", "oracle"])) == []
    rows = scores(metrics=["edge-correlation", "roc-auc"])
    assert {one.metric for one in families(score_cube(pa.Table.from_pylist(rows)))} == {"roc-auc"}
    table = scores()
    for row in table:
        if row["method"] == "sobel":
            row["value"] = row["value_worst_case"] = math.nan
    found = compare(table)
    assert {row.n_samples for row in found} == {29}
    assert len(found) == 3


def test_a_family_alone_has_the_numbers_that_it_has_among_others():
    rows = scores(metrics=["roc-auc", "average-precision"], variants=["region:brain", IMAGE])
    together = compare_families(families(score_cube(pa.Table.from_pylist(rows))))
    assert len(together) == 4 * 6
    alone = compare(rows, "average-precision", "region:brain")
    assert [row for row in together if (row.metric, row.variant) == ("average-precision", "region:brain")] == alone


def test_effect_size_of_constant_differences():
    found = effect_sizes(np.array([[0.1 + 0.2, 0.0, -0.5, 1.0], [0.3, 0.0, -0.5, 3.0]]))
    np.testing.assert_allclose(found, [np.inf, 0.0, -np.inf, 2 / np.sqrt(2)])
    assert np.isnan(effect_sizes(np.ones((1, 2)))).all()


def slow_holm(p_values):
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        largest = max(largest, (len(p_values) - place) * p_values[index])
        corrected[index] = min(largest, 1.0)
    return corrected


@given(arrays(float, st.integers(0, 8), elements=st.integers(0, 20).map(lambda whole: whole / 20)))
def test_holm_equals_slow_loop(p_values):
    np.testing.assert_allclose(holm(p_values), slow_holm(p_values.tolist()))


def slow_p_value(a, b, clusters, trainings):
    """Of one pair of methods, scores (S, N): sign flips of cluster sums, moved by the noise between trainings."""
    rng = np.random.default_rng(0)
    away = a - b
    sums = np.array([away.mean(axis=0)[clusters == number].sum() for number in np.unique(clusters)])
    noise = np.zeros(20_000)
    if trainings > 1:
        found = training_noise(np.stack([a, b], axis=2), clusters)
        noise = found.error[0, 1] * away.shape[1] * rng.standard_t(found.freedom[0, 1], 20_000)
    flipped = np.array([(rng.choice([-1, 1], len(sums)) * sums).sum() for _ in range(20_000)])
    return np.mean(np.abs(flipped + noise) >= abs(sums.sum()))


@pytest.mark.parametrize("seeds", [(0,), (0, 1, 5)])
@pytest.mark.parametrize("size", [1, 3])
def test_tests_flip_clusters_and_count_the_noise_between_trainings(seeds, size):
    rows = scores(seeds=seeds, methods={"gradient": 0.6, "smoothgrad": 0.602}, size=size, samples=60)
    rng = np.random.default_rng(1)
    moved = {(seed, method): 0.004 * rng.normal() for seed in seeds for method in ("gradient", "smoothgrad")}
    for row in rows:
        row["value_worst_case"] = row["value"] = 0.5 if math.isnan(row["value"]) else row["value"]
        row["value_worst_case"] += moved[row["training_seed"], row["method"]]
    cube = score_cube(pa.Table.from_pylist(rows))
    (row,) = compare(rows)
    assert (row.n_clusters, row.n_samples, row.n_trainings) == (60 // size, 60, len(seeds))
    a, b = (cube.worst[number, 0, 0] for number in (0, 1))
    assert row.p_value == pytest.approx(slow_p_value(a, b, cube.clusters, len(seeds)), abs=0.015)


@pytest.mark.parametrize("clusters", [5, 6])
def test_fewer_than_six_clusters_give_no_p_value(clusters):
    found = compare(scores(samples=30, size=30 // clusters))
    assert all(math.isnan(row.p_holm) == (clusters < 6) for row in found)
