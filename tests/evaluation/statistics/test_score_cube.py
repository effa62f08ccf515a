"""The cube of scores against the rows it was made from, and its restrictions to subsets of samples."""

import math
from collections import Counter
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from score_rows import score_cube, score_rows
from salgen.evaluation.statistics import score_cube as module
from salgen.evaluation.statistics.score_cube import read_scores

RNG = np.random.default_rng(0)
STATES = [(True, True), (True, False), (False, None), (False, False), (True, None)]


def rows():
    """Two models, two trainings, two methods, two metrics of which one is scored in one variant, seven samples."""

    def of(row, i):
        number = i + row["training_seed"]
        return {
            "cluster": "object-" + "aabbbca"[i],
            "value": math.nan if number % 4 == 0 else RNG.random(),
            "value_worst_case": RNG.random(),
            "reason": ["zero_energy", "", "", "trivial_full_mask"][number % 4],
            "target": (i + (row["model"] == "b")) % 3,
            "correct": STATES[number % 5][0],
            "certified": STATES[number % 5][1],
        }

    axes = {"models": "ab", "seeds": (3, 1), "methods": ("gradient", "oracle"), "metrics": ("roc-auc", "iou")}
    every = score_rows(of, 7, variants=("region:image", "region:brain"), **axes)
    return [row for row in every if (row["metric"], row["variant"]) != ("iou", "region:brain")]


ROWS = rows()
CUBE = score_cube(pa.Table.from_pylist(ROWS))


def place(row):
    series = CUBE.series.index((row["model"], row["method"], row["reduction"]))
    names = (CUBE.metrics, "metric"), (CUBE.variants, "variant"), (CUBE.seeds, "training_seed")
    return (series, *(axis.index(row[name]) for axis, name in names), CUBE.samples.index(row["sample_id"]))


@pytest.mark.parametrize("rows_at_once", [1, 50, 10_000])
def test_a_file_is_read_in_parts(tmp_path, monkeypatch, rows_at_once):
    """Each row group has names of its own, so that the same number means another one in the next."""
    monkeypatch.setattr(module, "ROWS", rows_at_once)
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "scores.parquet", row_group_size=10)
    found = read_scores(tmp_path)
    for name, value in vars(CUBE).items():
        np.testing.assert_equal(getattr(found, name), value)


def test_every_row_stands_in_its_place_and_in_subsets():
    assert CUBE.scored.sum() == len(ROWS)
    assert CUBE.clusters.tolist() == [0, 0, 1, 1, 1, 2, 0]
    for row in ROWS:
        at = place(row)
        np.testing.assert_equal((CUBE.value[at], CUBE.worst[at]), (row["value"], row["value_worst_case"]))
        assert CUBE.reason_names[CUBE.reason[at]] == row["reason"]
        sample = (CUBE.models.index(row["model"]), *at[3:])
        assert (CUBE.target[sample], CUBE.correct[sample]) == (row["target"], row["correct"])
        assert CUBE.has_certificate[sample] == (row["certified"] is not None)
        assert CUBE.certified[sample] == bool(row["certified"])
    assert CUBE.subsets == ["all", "correct", "certified"]
    table = pa.Table.from_pylist([row | {"certified": None} for row in ROWS])
    assert score_cube(table).subsets == ["all", "correct"]


@pytest.mark.parametrize("subset", ["all", "correct", "certified"])
def test_restriction_leaves_just_the_subset(subset):
    cube = CUBE.restricted(subset)
    assert (cube is CUBE) == (subset == "all")
    kept = [row for row in ROWS if subset == "all" or row[subset]]
    assert cube.subset == subset
    assert 0 < cube.scored.sum() == len(kept)
    assert np.isnan(cube.value[~cube.scored]).all()
    assert np.isnan(cube.worst[~cube.scored]).all()
    for row in kept:
        at = place(row)
        np.testing.assert_equal((cube.value[at], cube.worst[at]), (row["value"], row["value_worst_case"]))
    expected = Counter((*place(row)[:4], row["reason"]) for row in kept if row["reason"])
    found = {(*key, name): count for key, names in cube.reasons.items() for name, count in names.items()}
    assert found == expected


def test_wrong_is_the_share_of_the_samples_that_the_metric_is_scored_on():
    place = ("roc-auc", "region:image")
    whole = {(row["training_seed"], row["sample_id"]): row["correct"] for row in ROWS if row["model"] == "a"}
    assert CUBE.wrong("a", *place) == pytest.approx(1 - np.mean(list(whole.values())))
    assert CUBE.restricted("correct").wrong("a", *place) == 0.0
    some = [row for row in ROWS if row["metric"] == "iou" or row["sample_id"] < ROWS[4]["sample_id"]]
    alone = [not row["correct"] for row in some if (row["model"], row["metric"], row["variant"]) == ("a", *place)]
    assert 0 < np.mean(alone) != 1 - np.mean(list(whole.values()))
    assert score_cube(pa.Table.from_pylist(some)).wrong("a", *place) == pytest.approx(np.mean(alone))
    assert math.isnan(CUBE.wrong("a", "iou", "region:brain"))
