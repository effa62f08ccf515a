"""Summary rows against direct sums over small tables."""

import csv
import io
from dataclasses import replace
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import sem, t
from score_rows import score_cube, score_rows
from salgen.evaluation.statistics.mean_intervals import mean_intervals
from salgen.evaluation.statistics.summary import csv_text, normalised, summarise

NAN = float("nan")
SCORES = {
    "random": [(0.5, 0.5, ""), (0.5, 0.5, ""), (0.4, 0.4, ""), (NAN, NAN, "empty_mask")],
    "gradient": [(0.7, 0.7, ""), (NAN, 0.0, "zero_energy"), (0.9, 0.9, "trivial_full_mask"), (NAN, NAN, "empty_mask")],
    "oracle": [(1.0, 1.0, ""), (1.0, 1.0, ""), (1.0, 1.0, ""), (NAN, NAN, "empty_mask")],
}


def summarised(table):
    return summarise(score_cube(table))


def rows(seeds=(0,), methods=tuple(SCORES), models=("cnn",), certified=None):
    def of(row, i):
        value, worst, reason = SCORES[row["method"]][i]
        more = 0.01 * row["training_seed"]
        return {
            "cluster": f"object-{i % 3}",
            "value": value + more,
            "value_worst_case": worst + more,
            "reason": reason,
            "correct": i != 0,
            "certified": certified(i) if certified else None,
            "target": i % 2,
        }

    return score_rows(of, 4, seeds=seeds, methods=methods, models=models)


def summary_of(table, method, seed="all"):
    found = {(row.method, row.training_seed): row for row in summarised(pa.Table.from_pylist(table))}
    return found[method, seed]


def test_summary_of_one_method():
    row = summary_of(rows(), "gradient")
    assert (row.n, row.n_undefined, row.n_excluded_masks, row.n_invalid_maps) == (2, 2, 1, 1)
    assert (row.n_clusters, row.n_samples, row.n_trainings) == (2, 2, 1)
    assert row.mean == pytest.approx(0.8)
    assert row.standard_deviation == pytest.approx(np.std([0.7, 0.9], ddof=1))
    assert row.median == pytest.approx(0.8)
    assert row.mean_worst_case == pytest.approx((0.7 + 0.0 + 0.9) / 3)
    assert row.mean_per_class == pytest.approx(0.8)  # both defined values are of one class
    assert 0.0 < row.ci_low < 0.2  # two samples tell next to nothing
    assert 0.95 < row.ci_high < 1.0
    assert row.ci_low_worst_case <= row.mean_worst_case <= row.ci_high_worst_case
    assert row.normalised == pytest.approx((0.8 - 0.45) / (1.0 - 0.45))  # over the two samples where all are defined
    assert row.reasons == {"empty_mask": 1, "trivial_full_mask": 1, "zero_energy": 1}
    assert row.interval == "clusters; of this one model"


@pytest.mark.parametrize("metric", ["roc-auc", "edge-correlation"])
def test_undefined_values_are_counted_by_reason(metric):
    """A failed map of a diagnostic has no worst value, and a misclassified sample no bad mask."""
    reasons = ["", "constant_map", "non_finite_map", "misclassified", "no_twin", "empty_mask", "trivial_full_mask"]
    table = [dict(rows()[0], sample_id=f"s-{i}", reason=reason, metric=metric) for i, reason in enumerate(reasons)]
    for row in table[1:]:
        worst = 0.0 if metric == "roc-auc" and row["reason"] in ("constant_map", "non_finite_map") else NAN
        row.update(value=NAN, value_worst_case=worst)
    row = summary_of(table, "random")
    assert (row.n, row.n_undefined) == (1, 6)
    assert (row.n_excluded_masks, row.n_invalid_maps, row.n_not_applicable) == (2, 2, 2)


@pytest.mark.parametrize(("metric", "normal"), [("roc-auc", NAN), ("average-drop", 0.5), ("edge-correlation", NAN)])
def test_normalised_scores_know_the_metrics_direction(metric, normal):
    """The oracle's values are low: good under average-drop, worse than chance under roc-auc, neither otherwise."""
    table = [
        dict(row, metric=metric, value=value, value_worst_case=value, reason="")
        for row in rows()
        for value in [{"random": 0.6, "gradient": 0.4, "oracle": 0.2}[row["method"]]]
    ]
    assert summary_of(table, "gradient").normalised == pytest.approx(normal, nan_ok=True)


@pytest.mark.parametrize(("metric", "least"), [("pointing-game", 0.0), ("edge-correlation", -1.0)])
def test_scores_that_are_all_alike_may_yet_fail_on_other_samples(metric, least):
    """By as much as twenty samples without a failure leave open, down to the metric's lowest value."""
    one = {**rows()[0], "metric": metric, "value": 1.0, "value_worst_case": 1.0}
    table = [{**one, "sample_id": f"s-{i}", "cluster": f"s-{i}"} for i in range(20)]
    row = summary_of(table, "random")
    assert row.interval == "clusters; of this one model"
    assert (row.ci_low, row.ci_high) == pytest.approx((1 - (1 - least) * (1 - 0.025 ** (1 / 20)), 1.0), abs=0.02)


@pytest.mark.parametrize("metric", ["pointing-game", "roc-auc"])
def test_nothing_is_said_of_an_interval_that_is_not_there(metric):
    row = summary_of([dict(rows()[0], metric=metric, value=1.0, value_worst_case=1.0)], "random")
    assert (row.n, row.interval) == (1, "")
    assert np.isnan([row.ci_low, row.ci_high, row.ci_low_worst_case, row.ci_high_worst_case]).all()


def test_the_worst_case_has_the_guaranteed_interval_and_the_mean_a_usual_one_or_none():
    table = [
        dict(rows()[0], sample_id=f"s-{i}", cluster=f"c-{i}", metric="pointing-game", value=NAN, value_worst_case=0.0)
        for i in range(9)
    ]
    row = summary_of(table, "random")
    assert np.isnan(row.ci_high)
    assert row.ci_high_worst_case == pytest.approx(1 - 0.025 ** (1 / 9), abs=0.02)
    assert row.interval == "clusters; of this one model"
    values = np.random.default_rng(0).normal(0.885, 0.035, 52)
    table = [
        dict(rows()[0], sample_id=f"s-{i:02d}", cluster=f"c-{i:02d}", value=value, value_worst_case=value, reason="")
        for i, value in enumerate(values)
    ]
    row = summary_of(table, "random")
    usual = t.interval(0.95, 51, values.mean(), sem(values))
    assert (row.ci_low, row.ci_high) == pytest.approx(usual, abs=2e-3)
    ends = mean_intervals(values[None, :, None], np.arange(52), np.zeros(1), np.ones(1), guaranteed=True)
    assert (row.ci_low_worst_case, row.ci_high_worst_case) == pytest.approx(np.concatenate(ends).tolist(), abs=1e-9)


def test_controls_are_normalised_to_zero_and_one_by_the_same_samples():
    assert [summary_of(rows(), name).normalised for name in ("random", "oracle")] == [0.0, 1.0]
    for control in ("random", "oracle"):
        assert np.isnan(summary_of(rows(methods=["gradient", control]), "gradient").normalised)
    nan = np.nan
    score, random, oracle = [0.6, nan, 9.0, 9.0, 0.8], [0.5, 7, nan, 7, 0.5], [1.0, 7, 7, nan, 1]
    assert normalised(*np.array([[score], [random], [oracle]])) == pytest.approx((0.7 - 0.5) / (1.0 - 0.5))


@pytest.mark.parametrize(("seeds", "words"), [(2, "clusters; of these models"), (3, "trainings x clusters")])
def test_training_seeds_are_pooled_and_told_apart(seeds, words):
    table = rows(range(seeds))
    whole, second = summary_of(table, "gradient"), summary_of(table, "gradient", "1")
    assert second.mean == pytest.approx(0.81)
    assert whole.n == 2 * seeds
    assert whole.mean == pytest.approx(0.8 + 0.01 * (seeds - 1) / 2)
    assert (whole.interval, second.interval) == (words, "clusters; of this one model")
    assert whole.reasons["empty_mask"] == seeds
    values = np.array([[0.7 + 0.01 * s, NAN, 0.9 + 0.01 * s, NAN] for s in range(seeds)])[:, :, None]
    expected = np.concatenate(mean_intervals(values, np.arange(4) % 3, np.zeros(1), np.ones(1)))
    assert [whole.ci_low, whole.ci_high] == pytest.approx(expected.tolist())


def test_order_of_the_rows_does_not_matter_and_models_and_variants_are_summarised_apart():
    table = pa.Table.from_pylist(rows((0, 1)))
    shuffled = table.take(np.random.default_rng(0).permutation(table.num_rows))
    key = lambda row: (row.method, row.training_seed)  # noqa: E731
    assert repr(sorted(summarised(table), key=key)) == repr(sorted(summarised(shuffled), key=key))
    found = summarised(pa.Table.from_pylist(rows(models=("cnn", "other"))))
    assert [row.model for row in found if row.method == "oracle"] == ["cnn", "cnn", "other", "other"]
    both = rows() + [row | {"variant": "region:brain"} for row in rows(methods=["oracle"])]
    found = summarised(pa.Table.from_pylist(both))
    assert {(row.method, row.variant) for row in found if row.variant == "region:brain"} == {("oracle", "region:brain")}


def test_classes_weigh_alike_in_the_mean_per_class():
    table = rows(methods=["random"])
    for row, target, value in zip(table, (4, 4, 4, 7), (0.2, 0.3, 0.4, 0.9), strict=True):
        row.update(target=target, value=value, value_worst_case=value, reason="")
    row = summary_of(table, "random")
    assert row.mean == pytest.approx(1.8 / 4)
    assert row.mean_per_class == pytest.approx((0.3 + 0.9) / 2)


def subset_of(table, subset):
    cube = score_cube(pa.Table.from_pylist(table))
    found = [row for subset in cube.subsets for row in summarise(cube.restricted(subset))]
    return {(row.samples, row.method, row.training_seed): row for row in found}.get((subset, "gradient", "all"))


@pytest.mark.parametrize("subset", ["correct", "certified"])
def test_subset_rows_equal_those_of_the_chosen_scores_alone(subset):
    every = rows(range(2), certified=lambda i: i > 1)
    for row in every:
        row["correct"] = (row["training_seed"] + int(row["sample_id"][-1])) % 2 == 0
    alone = [row for row in every if row[subset]]
    cube = score_cube(pa.Table.from_pylist(every))
    found = [row for subset in cube.subsets for row in summarise(cube.restricted(subset))]
    assert {row.samples for row in found} == {"all", "correct", "certified"}
    expected = [replace(row, samples=subset) for row in summarised(pa.Table.from_pylist(alone))]
    assert repr([row for row in found if row.samples == subset]) == repr(expected)


def test_no_row_without_certificates_or_certified_samples():
    assert subset_of(rows(), "certified") is None
    table = rows(certified=lambda i: False)
    assert subset_of(table, "certified") is None
    assert subset_of(table, "all").n == 2


def test_texts_of_a_table_are_no_formulas_and_numbers_stay_numbers():
    rows = [
        {"name": "=cmd()", "low": -0.5, "count": -3, "reasons": {"@a": 1}},
        {"name": "a\rb", "low": float("nan"), "count": 0, "reasons": {}},
    ]
    text = csv_text(["name", "low", "count", "reasons"], rows)
    _, *lines = csv.reader(io.StringIO(text, newline=""))
    assert lines == [["'=cmd()", "-0.5", "-3", "'@a: 1"], ["a b", "", "0", ""]]


@pytest.mark.parametrize(
    ("score", "direction", "oracle"),
    [(0.6, 1.0, 0.4), (0.6, -1.0, 0.6), (0.6, 1.0, 0.5 + 1e-17), (1.0, 1.0, 0.5), (np.nan, 1.0, 1.0)],
)
def test_normalised_score_is_undefined_without_samples_or_where_the_oracle_is_no_better_than_chance(
    score, direction, oracle
):
    arrays = (np.full((1, 3), value) for value in (score, 0.5, oracle))
    assert np.isnan(normalised(*arrays, direction))
