"""What the report says of many metrics, choices of samples, tests, ranks, certificates and curves."""

import re
import numpy as np
import pytest
from run_folders import METRICS, MORE_METRICS, edited_record, edited_scores, make_run
from test_report import read
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.clever_hans import clever_hans
from salgen.evaluation.report import console_summary, report
from salgen.evaluation.report.figures import WIDTH, all_curves, parameter_groups
from salgen.evaluation.report.page import suspect_counts
from salgen.evaluation.report.reliance import by_model, reliance_lines
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.report.tables import means_table, metric_blocks, panels
from salgen.evaluation.report.verdicts import verdict
from salgen.evaluation.statistics.comparison_groups import family
from salgen.evaluation.statistics.comparisons import compare_families
from salgen.evaluation.statistics.ranks import rank_methods

MODEL = "lesion-cnn"
EVERY = (*METRICS, *MORE_METRICS)
SMALL = {"samples": 24, "pictures": 0, "methods": ("gradient", "lrp-z", "deconvnet", "random", "sobel", "oracle")}


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    path = make_run(tmp_path_factory.mktemp("rich") / "run", metrics=EVERY, coverage=0.5, **SMALL)
    return read_runs([path])[0], read(report([path]))


def test_metrics_stand_in_tables_by_reading_and_family_all_of_them_in_the_headline_variant(rich):
    blocks = list(metric_blocks(EVERY))
    assert [(title.partition(":")[0], reading) for title, reading, _ in blocks] == [
        ("Ranking", None),
        ("Localisation", None),
        ("Faithfulness", None),
        ("Diagnostics", None),
        ("As in the code or text of authors_exact", "authors_exact"),
        ("As in the code or text of aabid", "aabid"),
    ]
    assert sorted(metric for _, _, metrics in blocks for metric in metrics) == sorted(EVERY)
    assert [metrics for _, _, metrics in metric_blocks(list(METRICS))] == [list(METRICS)]
    run, page = rich
    (whole, correct, certified) = panels(run, MODEL)
    headline, other = whole.views.values()
    shown = [metric for block in headline for metric in block.table.metrics]
    assert sorted(shown) == sorted(EVERY)
    on_image = {head.metric for block in headline for head in block.table.heads if head.variant}
    assert on_image == {"insertion-auc", "insertion-auc:variant=li2020", "average-drop:compat=aabid"}
    assert on_image.isdisjoint(metric for block in other for metric in block.table.metrics)
    assert "insertion-auc whole image" in page.text
    assert (whole.count, correct.count, certified.count) == (24, 23, 12)


def test_diagnostics_and_deviating_readings_are_no_headline_and_rank_nothing(rich, tmp_path):
    run, _ = rich
    table = means_table(run, MODEL, "region:brain", ["edge-correlation"])
    assert not table.ranks_methods
    assert not any(cell.best or cell.tied or cell.below_floor for line in table.lines for cell in line.cells.values())
    assert all(np.isnan(line.rank) for line in table.lines)
    both = means_table(run, MODEL, "region:brain", ["edge-correlation", "roc-auc"])
    alone = means_table(run, MODEL, "region:brain", ["roc-auc"])
    assert [line.rank for line in both.lines] == [line.rank for line in alone.lines]
    path = make_run(tmp_path / "run", metrics=("prec99:compat=authors_exact", "edge-correlation", "prec99"), **SMALL)
    run = read_runs([path])[0]
    assert run.headline == "prec99"
    tables = [block.table for block in panels(run, MODEL)[0].views["region:brain"]]
    assert [table.metrics for table in tables] == [["edge-correlation", "prec99"], ["prec99:compat=authors_exact"]]
    assert "not ranked together" in read(report([path])).text
    path = make_run(tmp_path / "diagnostics", metrics=("edge-correlation",), **SMALL)
    assert "which rank no method" in read(report([path])).text
    assert "edge-" in console_summary([path])


def test_samples_stand_side_by_side_and_certificates_are_told_in_words(rich):
    run, page = rich
    key = ("gradient", "max_abs")
    tables = [{line.key: line.cells for line in panel.headline.lines} for panel in panels(run, MODEL)]
    cells = [table[key]["roc-auc"].row for table in tables]
    series = run.cube.series.index((MODEL, *key))
    values = run.cube.value[series, run.cube.metrics.index("roc-auc"), run.cube.variants.index("region:brain"), 0]
    kept = [np.ones(24, dtype=bool), np.arange(24) != 3, np.arange(24) < 12]
    for row, chosen in zip(cells, kept, strict=True):
        assert row.n == np.isfinite(values[chosen]).sum()
        assert row.mean == pytest.approx(np.nanmean(values[chosen]))
    (line,) = reliance_lines(run)
    assert [line[name] for name in ("coverage", "uses_feature", "ignores_background", "low")] == [0.5, 0.9, 0.5, False]
    assert "lesion_1 45 %; lesion_2 12 %." in page.text
    assert "Certified: 12 of 24 (50.0 %, the coverage)" in page.text
    radios = [attributes for tag, attributes in page.tags if tag == "input"]
    assert [attributes["value"] for attributes in radios] == ["all", "correct", "certified"]
    assert len({attributes["name"] for attributes in radios}) == 1
    assert ["checked" in attributes for attributes in radios] == [True, False, False]


def test_tests_are_turned_towards_the_method_and_ranks_plotted_with_cliques(rich):
    run, page = rich
    of = verdict(run, MODEL, "roc-auc")
    ordered = of.ordered(of.compared)
    assert ordered == sorted(of.compared, key=lambda key: -of.row(key).mean_worst_case)
    assert of.test(of.best, of.best) is None
    assert "oracle" not in dict(ordered)
    for test in compare_families([family(run.cube, MODEL, "roc-auc", "region:brain")]):
        if of.best in test.keys:
            (other,) = set(test.keys) - {of.best}
            turned = of.test(other, of.best)
            sign = 1 if test.keys[0] == other else -1
            assert turned.keys[0] == other
            assert turned.difference == pytest.approx(sign * test.difference)
            assert turned.effect_size == pytest.approx(sign * test.effect_size)
            assert turned.win_share == pytest.approx(test.win_share if sign == 1 else 1 - test.win_share)
    assert "Holm's method over 10 pairs" in page.text
    ranks = rank_methods(run.cube, MODEL, "roc-auc", "region:brain")
    assert f"critical difference {ranks.critical_difference:.2f}" in page.text
    for key, rank in zip(ranks.keys, ranks.ranks, strict=True):
        assert f"{key[0]}: mean rank {rank:.2f}" in page.text
    drawn = [attributes for tag, attributes in page.tags if attributes.get("class") == "clique"]
    assert len(drawn) == len(ranks.cliques) > 0
    assert page.text.count("no difference among") == len(ranks.cliques)
    assert f"{ranks.clusters} clusters: Friedman test" in page.text


def test_undefined_values_and_means_over_classes_are_shown(rich, tmp_path):
    run, page = rich
    table = means_table(run, MODEL, "region:brain", ["relevance-mass", "roc-auc"])
    assert [head.undefined for head in table.heads] == [2, 2]
    cells = {line.label: line.cells["relevance-mass"].undefined for line in table.lines}
    assert cells.pop("lrp-z") == 5
    assert set(cells.values()) == {0}
    assert "5 undefined" in page.text.partition("see the reasons")[2]
    path = make_run(tmp_path / "run", metrics=("roc-auc",), variants=("region:image",), undefined=False, **SMALL)
    assert "all classes have equal weight" not in read(report([path])).text
    with edited_scores(path) as rows:
        for scored in rows:
            scored["target"] = int(int(scored["sample_id"][5:]) % 5 == 0)
    run = read_runs([path])[0]
    row = run.row(MODEL, ("gradient", "max_abs"), "roc-auc", "region:image")
    values = run.cube.value[run.cube.series.index((MODEL, "gradient", "max_abs")), 0, 0, 0]
    of_class = np.arange(24) % 5 == 0
    assert row.mean_per_class == pytest.approx((values[of_class].mean() + values[~of_class].mean()) / 2)
    text = read(report([path])).text
    assert "all classes have equal weight" in text
    assert f"{row.mean_per_class:.3f} mean {row.mean:.3f}" in text


def test_certificates_are_shown_of_trainings_together_or_why_there_are_none(tmp_path):
    path = make_run(tmp_path / "run", metrics=("roc-auc",), coverage=0.5, **SMALL)
    with edited_record(path) as record:
        record["certificates"]["redraws"] = 59
        record["certificates"]["models"][0] |= {"by_tolerance": {"0.25": 0.5, "1.0": 0.875}, "held_effect": 0.123}
    new = read(report([path])).text
    assert "on at most 35 % of all backgrounds" in new
    assert "50 % 50 % 12 % –" in new  # noqa: RUF001
    assert "Training seed 25 % 100 % perlin-lesions lesion-cnn 0 50 % 88 %" in new
    path = make_run(tmp_path / "run", metrics=("roc-auc",), **SMALL)
    assert "cannot be rendered again: no recipes" in read(report([path])).text
    with edited_record(path) as record:
        record["certificates"]["models"] = [{"name": "x"}]
    with pytest.raises(SalgenError, match=re.escape("no entry 'certificates.models.seed'")):
        report([path])
    path = make_run(tmp_path / "run", metrics=("roc-auc",), seeds=2, coverage=0.25, **SMALL)
    with edited_record(path) as record:
        record["certificates"]["models"][1] |= {"coverage": 0.1, "needed": {"lesion_1": 0.6, "lesion_2": None}}
    (both,) = by_model(reliance_lines(read_runs([path])[0]))
    assert (both["seeds"], both["coverage"]) == ([0, 1], (0.1, 0.25))
    assert both["needed"] == {"lesion_1": (0.45, 0.6), "lesion_2": (0.125, 0.125)}
    text = read(report([path])).text
    assert "training seeds 0, 1, on perlin-lesions : 10 % to 25 % of the images are certified" in text
    assert "lesion_1 45 % to 60 %;" in text


@pytest.mark.parametrize(("coverage", "withheld"), [(0.25, True), (0.5, False), (0.0, True)])
def test_no_method_is_best_where_the_model_does_not_rely_on_the_feature(tmp_path, coverage, withheld):
    path = make_run(tmp_path / "run", metrics=("roc-auc",), coverage=coverage, **SMALL)
    text, summary = read(report([path])).text, console_summary([path])
    assert ("No method is called the best" in text) == withheld
    assert ("no verdict: the model relies on the feature for fewer than half" in summary) == withheld
    assert ("best by roc-auc" in summary) != withheld
    assert ("Most images are not certified" in text) == ("says nothing about the method" in text) == withheld
    said = f"{coverage:.0%} of the images are certified; on the others the background mostly moves".replace("%", " %")
    assert (said in text) == withheld
    assert (f"WARNING: lesion-cnn seed 0 relies on the feature for {coverage:.0%} of 24 samples" in summary) == withheld
    assert ("No image is certified." in text) == ("of which there are none here" in text) == (coverage == 0)


def test_calls_that_differ_in_one_number_make_curves_to_scale(rich):
    calls = ["iou", "iou:threshold=0.25", "roc-auc", "roar:fraction=0.9", "roar:fraction=0.1", "kar:fraction=0.1"]
    assert list(parameter_groups(calls)) == [
        ("iou", "threshold", {0.25: "iou:threshold=0.25", 0.5: "iou"}),
        ("roar", "fraction", {0.1: "roar:fraction=0.1", 0.9: "roar:fraction=0.9"}),
    ]
    sensitivity = ["max-sensitivity:radius=0.1", "max-sensitivity:radius=0.2,norm=rms", "max-sensitivity:radius=0.3"]
    assert [list(calls) for _, _, calls in parameter_groups(sensitivity)] == [[0.1, 0.3]]
    run, page = rich
    (found,) = all_curves(run, MODEL, means_table(run, MODEL, "region:brain", ["roc-auc"]))
    assert (found.metric, found.parameter, found.values) == ("iou", "threshold", [0.25, 0.5, 0.75])
    curves = {curve.label: curve for curve in found.curves}
    row = run.row(MODEL, ("gradient", "max_abs"), "iou:threshold=0.75", "region:brain")
    assert curves["gradient"].means[2] == row.mean
    assert {curve.label for curve in found.curves if curve.colour is not None} == {"gradient", "lrp-z", "deconvnet"}
    assert found.grey == [label for label in curves if label in ("random", "sobel", "oracle")]
    points = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', found.figure)]
    assert points[1] - points[0] == pytest.approx(points[2] - points[1], abs=0.2)
    assert max(points) <= WIDTH
    assert "iou against threshold" in page.text


def test_suspects_are_counted_as_the_command_finds_them_by_both_metrics_and_the_predictions(rich, tmp_path):
    run, page = rich
    counts = {found["method"]: found["found"] for found in suspect_counts(run, MODEL)}
    assert counts == {method: len(clever_hans(run.path, method)) for method in ("gradient", "lrp-z", "deconvnet")}
    assert sum(counts.values()) > 0
    assert "salgen find clever-hans run -m deconvnet --dataset DATASET" in page.text
    path = make_run(tmp_path / "run", metrics=("roc-auc", "pointing-game"), **SMALL)
    assert suspect_counts(read_runs([path])[0], MODEL) == []
    path = make_run(tmp_path / "run", metrics=("pointing-game", "insertion-auc:variant=li2020"), **SMALL)
    (path / "predictions.parquet").unlink()
    with pytest.raises(SalgenError, match=r"predictions\.parquet is missing"):
        report([path])


def test_console_says_what_the_tests_say_and_shows_what_fits(rich):
    run, _ = rich
    lines = console_summary([run.path]).splitlines()
    assert "lesion-cnn seed 0 relies on the feature for 50% of 24 samples" in lines
    assert any(line.startswith("best by roc-auc ") for line in lines)
    assert any("significantly better than sobel, the strongest floor and an edge filter (0." in line for line in lines)
    assert lines[-1] == "and 8 more metrics in the report"
    assert max(map(len, lines)) < 160
