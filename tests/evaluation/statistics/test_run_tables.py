"""Tables of a run: their files, faults of the scores, and the same whatever is held at a time."""

import csv
import math
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from score_rows import score_rows
from salgen.errors import SalgenError
from salgen.evaluation.statistics.comparison_groups import families
from salgen.evaluation.statistics.comparisons import compare_families
from salgen.evaluation.statistics.run_tables import tables_text, write_tables
from salgen.evaluation.statistics.score_cube import read_scores, score_cubes
from salgen.evaluation.statistics.summary import summarise

METHODS = {"sobel": 0.5, "random": 0.5, "gradient": 0.7, "oracle": 1.0}
METRICS = ("pointing-game", "roc-auc", "soft-f1", "mae")


def rows():
    """Two models, two trainings; sample 2 has no mask, the gradient fails on sample 3 and has no `mae` of model b."""
    rng = np.random.default_rng(0)

    def of(row, i):
        value = np.clip(METHODS[row["method"]] + 0.1 * rng.normal(), 0, 1)
        fails = i == 3 and row["method"] == "gradient"
        return {
            "cluster": f"object-{i // 2}",
            "value": math.nan if i == 2 or fails else value,
            "value_worst_case": math.nan if i == 2 else 0.0 if fails else value,
            "reason": "empty_mask" if i == 2 else "zero_energy" if fails else "",
            "target": i % 2,
            "correct": i % 7 != 0,
            "certified": i % 2 == 0,
        }

    axes = {"models": "ba", "seeds": (1, 0), "methods": METHODS, "metrics": METRICS}
    every = score_rows(of, 16, variants=("region:image", "region:brain"), **axes)
    return [row for row in every if (row["model"], row["method"], row["metric"]) != ("b", "sobel", METRICS[0])]


@pytest.fixture
def run(tmp_path):
    pq.write_table(pa.Table.from_pylist(rows()), tmp_path / "scores.parquet", row_group_size=100)
    return tmp_path


def read(path):
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


def test_files_hold_the_rows_of_all_subsets(run):
    write_tables(run)
    cube = read_scores(run)
    subsets = [cube.restricted(name) for name in cube.subsets]
    for name, expected, number in (
        ("summary.csv", [row for one in subsets for row in summarise(one)], "mean"),
        ("comparisons.csv", [row for one in subsets for row in compare_families(families(one))], "difference"),
    ):
        found = read(run / name)
        keys = ("samples", "model", "metric", "variant", *(("method", "training_seed") if number == "mean" else ()))
        assert [[row[key] for key in keys] for row in found] == [[getattr(row, k) for k in keys] for row in expected]
        numbers = [float(row[number] or "nan") for row in found]
        assert numbers == pytest.approx([getattr(row, number) for row in expected], rel=1e-5, nan_ok=True)
        assert {row["samples"] for row in found} == {"all", "correct", "certified"}
    assert "zero_energy: 2" in (run / "summary.csv").read_text()
    assert "nan" not in (run / "summary.csv").read_text()  # undefined numbers are empty fields


@pytest.mark.parametrize(("held", "cubes"), [(1, 4), (1100, 2), (10**6, 1)])
def test_the_same_whatever_is_held_at_a_time(run, held, cubes):
    parts = list(score_cubes(run, held))
    assert len(parts) == cubes
    assert [metric for part in parts for metric in part.metrics] == read_scores(run).metrics
    assert tables_text(parts) == tables_text([read_scores(run)])


def test_faults_of_the_scores_name_the_file(tmp_path):
    path = tmp_path / "scores.parquet"
    good = pa.Table.from_pylist(rows())
    with pytest.raises(SalgenError, match=r"scores\.parquet is missing"):
        write_tables(tmp_path)
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(SalgenError, match=r"scores\.parquet is damaged"):
        write_tables(tmp_path)
    pq.write_table(good.drop_columns(["metric"]), path)
    with pytest.raises(SalgenError, match=r"scores\.parquet is damaged .*metric"):
        write_tables(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"scores.parquet"}
