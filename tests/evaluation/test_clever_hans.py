import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from salgen.errors import SalgenError
from salgen.evaluation.clever_hans import FAITHFULNESS, Thresholds, clever_hans, false_positives, suspicious

UNIT = st.one_of(st.floats(0, 1), st.sampled_from([0.5, 0.9, float("nan")]))


@given(st.lists(st.tuples(UNIT, UNIT, UNIT), min_size=1, max_size=12))
@settings(deadline=None, max_examples=60)
def test_is_the_intersection_of_three_sets(samples):
    f, loc, faith = np.array(samples, dtype=float).T
    found = suspicious(f, loc, faith, Thresholds())
    sets = [{i for i, v in enumerate(f) if v > 0.9}, {i for i, v in enumerate(loc) if v < 0.5}]
    assert set(found) == sets[0] & sets[1] & {i for i, v in enumerate(faith) if v > 0.5}
    products = [f[i] * faith[i] for i in found]
    assert products == sorted(products, reverse=True)


@pytest.fixture
def run(tmp_path):
    """Four images of two classes: (probability of class 1, label, pointing game, iAUC)."""
    cases = [(0.95, 1, 0.0, 0.8), (0.99, 1, 0.0, 0.6), (0.97, 1, 1.0, 0.9), (0.93, 0, 0.0, 0.9), (0.02, 0, 0.2, 0.7)]
    ids = [f"test-{i:06d}" for i in range(len(cases))]
    scores = []
    for metric, column in (("pointing-game", 2), (FAITHFULNESS, 3)):
        for variant in ("region:brain", "region:image") if column == 2 else ("region:image",):
            for name, case in zip(ids, cases, strict=True):
                row = {"model": "m", "training_seed": 0, "sample_id": name, "method": "grad-cam", "metric": metric}
                row |= {"reduction": "none", "reason": "", "certified": None}
                right = (case[0] > 0.5) == case[1]
                value = case[column] if variant == "region:brain" or column == 3 else 1.0 - case[column]
                scores.append(
                    {
                        **row,
                        "variant": variant,
                        "value": value,
                        "value_worst_case": value,
                        "target": case[1],
                        "correct": right,
                    }
                )
    table = pa.Table.from_pylist(scores)
    column = table.column_names.index("certified")
    table = table.set_column(column, "certified", table["certified"].cast(pa.bool_()))
    pq.write_table(table, tmp_path / "scores.parquet")
    said = [
        {"model": "m", "training_seed": 0, "sample_id": name, "label": label, "probabilities": [1 - p, p]}
        for name, (p, label, _, _) in zip(ids, cases, strict=True)
    ]
    pq.write_table(pa.Table.from_pylist(said), tmp_path / "predictions.parquet")
    return tmp_path


def test_candidates_are_right_sure_and_point_elsewhere(run):
    """By hand: of the right images 0 and 1 point elsewhere in the first variant, and 4, with class 0 at 0.98."""
    found = clever_hans(run, "grad-cam")
    assert [suspect.sample_id for suspect in found] == ["test-000000", "test-000004", "test-000001"]
    assert [round(suspect.confidence * suspect.faithfulness, 3) for suspect in found] == [0.76, 0.686, 0.594]
    assert [suspect.class_number for suspect in found] == [1, 0, 1]


def test_thresholds_narrow_the_set(run):
    found = clever_hans(run, "grad-cam", Thresholds(confidence=0.96, faithfulness=0.65))
    assert [suspect.sample_id for suspect in found] == ["test-000004"]


def test_false_positives_are_sure_of_a_class_that_is_not_there(run):
    (found,) = false_positives(run)
    assert (found.sample_id, found.class_number) == ("test-000003", 1)
    assert found.confidence == pytest.approx(0.93)
    assert false_positives(run, 0.94) == []


def test_faults_are_named(run, tmp_path):
    with pytest.raises(SalgenError, match="has no method 'rise'; it has grad-cam"):
        clever_hans(run, "rise")
    with pytest.raises(SalgenError, match="has no metric 'iou'; it has insertion-auc:variant=li2020, pointing-game"):
        clever_hans(run, "grad-cam", localization="iou")
    with pytest.raises(SalgenError, match=r"is missing: .* is not a run folder"):
        false_positives(tmp_path / "nothing")
