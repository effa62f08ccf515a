import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from score_rows import score_rows
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.clever_hans import Suspect, clever_hans, false_positives, suspicious
from salgen.evaluation.diagnostics.thresholds import FAITHFULNESS, LOCALIZATION, Thresholds

METRICS = (LOCALIZATION, FAITHFULNESS)
UNIT = st.one_of(st.floats(0, 1), st.sampled_from([0.5, 0.9, float("nan")]))


def found_among(samples, metrics=METRICS):
    """Numbers of the suspicious ones among (confidence, localization, faithfulness)."""
    maps = [Suspect("m", 0, str(i), f, 0, "grad-cam", loc, faith) for i, (f, loc, faith) in enumerate(samples)]
    return [int(suspect.sample_id) for suspect in suspicious(maps, Thresholds(), metrics)]


@given(st.lists(st.tuples(UNIT, UNIT, UNIT), min_size=1, max_size=12))
def test_is_the_intersection_of_three_sets_and_where_less_is_better_the_signs_turn(samples):
    found = found_among(samples)
    assert set(found) == {i for i, (a, b, c) in enumerate(samples) if a > 0.9 and b < 0.5 < c}
    turned = found_among(samples, ("localization-error", "deletion-auc"))
    assert set(turned) == {i for i, (a, b, c) in enumerate(samples) if a > 0.9 and b > 0.5 > c}
    products = [samples[i][0] * samples[i][2] for i in found], [samples[i][0] * (1.0 - samples[i][2]) for i in turned]
    assert all(ordered == sorted(ordered, reverse=True) for ordered in products)


def test_the_best_of_an_unbounded_metric_is_its_smallest_value():
    samples = [(0.95, 0.0, faith) for faith in (0.2, -2.0, -0.5)]
    assert found_among(samples, ("pointing-game", "saliency-metric")) == [1, 2, 0]


@pytest.fixture
def run(tmp_path):
    """Four images of two classes: (probability of class 1, label, pointing game, iAUC)."""
    cases = [(0.95, 1, 0.0, 0.8), (0.99, 1, 0.0, 0.6), (0.97, 1, 1.0, 0.9), (0.93, 0, 0.0, 0.9), (0.02, 0, 0.2, 0.7)]
    values = {
        ("pointing-game", "region:brain"): [hit for _, _, hit, _ in cases],
        ("pointing-game", "region:image"): [1.0 - hit for _, _, hit, _ in cases],
        (FAITHFULNESS, "region:image"): [area for _, _, _, area in cases],
    }

    def of(row, i):
        value, (probability, label, _, _) = values[row["metric"], row["variant"]][i], cases[i]
        right = (probability > 0.5) == label
        return {"value": value, "value_worst_case": value, "target": label, "correct": right}

    how = {"models": ["m"], "methods": ["grad-cam"]}
    rows = []
    for metric, variant in values:
        rows += score_rows(of, len(cases), **how, metrics=[metric], variants=[variant])
    write_scores(tmp_path, rows)
    said = [
        {"model": "m", "training_seed": 0, "sample_id": f"test-{i:03d}", "label": label, "probabilities": [1 - p, p]}
        for i, (p, label, _, _) in enumerate(cases)
    ]
    pq.write_table(pa.Table.from_pylist(said), tmp_path / "predictions.parquet")
    return tmp_path


def write_scores(run, rows):
    table = pa.Table.from_pylist(rows)
    place = table.column_names.index("certified")
    pq.write_table(table.set_column(place, "certified", table["certified"].cast(pa.bool_())), run / "scores.parquet")


def test_candidates_are_right_sure_and_point_elsewhere_by_an_error_too(run):
    """By hand: of the right images 0 and 1 point elsewhere in the first variant, and 4, with class 0 at 0.98."""
    found = clever_hans(run, "grad-cam")
    assert [suspect.sample_id for suspect in found] == ["test-000", "test-004", "test-001"]
    assert [round(suspect.confidence * suspect.faithfulness, 3) for suspect in found] == [0.76, 0.686, 0.594]
    assert [suspect.class_number for suspect in found] == [1, 0, 1]
    found = clever_hans(run, "grad-cam", Thresholds(confidence=0.96, faithfulness=0.65))
    assert [suspect.sample_id for suspect in found] == ["test-004"]

    def change(row):
        if row["metric"] == "pointing-game":
            row |= {"metric": "localization-error", "value": 1.0 - row["value"]}
        return row

    found = clever_hans(rewritten(run, change), "grad-cam", localization="localization-error")
    assert [suspect.sample_id for suspect in found] == ["test-000", "test-004", "test-001"]
    assert [suspect.localization for suspect in found] == [1.0, 0.8, 1.0]


def test_false_positives_are_sure_of_a_class_that_is_not_there(run):
    (found,) = false_positives(run)
    assert (found.sample_id, found.class_number) == ("test-003", 1)
    assert found.confidence == pytest.approx(0.93)
    assert false_positives(run, 0.94) == []
    with pytest.raises(SalgenError, match=r"is missing: .* is not a run folder"):
        false_positives(run / "nothing")


def rewritten(run, change):
    """The run with other scores: `change` takes and gives a row."""
    write_scores(run, [change(row) for row in pq.read_table(run / "scores.parquet").to_pylist()])
    return run


def with_metric(name, **values):
    """Another metric in place of the pointing game."""
    return lambda row: row | ({"metric": name, **values} if row["metric"] == "pointing-game" else {})


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        (dict, {"method": "rise"}, "unknown method of .* 'rise'"),
        (dict, {"localization": "iou"}, "unknown metric of .* 'iou'.*known: insertion-auc:variant=li2020, p"),
        (dict, {"localization": FAITHFULNESS}, "insertion-auc:variant=li2020 does not use the mask"),
        (dict, {"faithfulness": "pointing-game"}, "pointing-game does not use the model"),
        (with_metric("g-cf"), {"localization": "g-cf"}, "g-cf does not use the mask, or has no direction"),
        (with_metric("idr", value=float("nan"), reason="no-twin"), {"localization": "idr"}, "idr has no value in this"),
    ],
)
def test_faults_are_named(run, change, given, message):
    with pytest.raises(SalgenError, match=message):
        clever_hans(rewritten(run, change), **{"method": "grad-cam", **given})
