"""All that share the best mean are named, and p values at the resolution of the permutations are bounds."""

import re
from itertools import combinations
import numpy as np
import pytest
from run_folders import edited_scores, make_run
from test_report import read
from salgen.evaluation.report import console_summary, report
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.report.tables import has_ceiling, means_table
from salgen.evaluation.report.verdicts import best_elsewhere, verdict
from salgen.evaluation.statistics.permutation import sign_flip_p_values

MODEL = "lesion-cnn"
FOUR = ("gradient", "lrp-z", "deconvnet", "smoothgrad", "random", "sobel", "oracle")


def with_values(path, chosen):
    """The run with other values of some (method, metric): functions of the sample's number."""
    with edited_scores(path) as rows:
        for row in rows:
            if (row["method"], row["metric"]) in chosen:
                value = chosen[row["method"], row["metric"]](int(row["sample_id"][5:]))
                row |= {"value": value, "value_worst_case": value, "reason": ""}
    return path


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The best mean of roc-auc is shared by three as printed, that of m-gt by two; deconvnet is far below."""
    folder, metrics = tmp_path_factory.mktemp("ties"), ("roc-auc", "m-gt")
    path = make_run(folder / "run", methods=FOUR, metrics=metrics, samples=24, pictures=0)
    values = {
        ("gradient", "roc-auc"): lambda i: 0.9896 + 0.01 * (-1) ** i,
        ("lrp-z", "roc-auc"): lambda i: 0.9904 - 0.01 * (-1) ** i,
        ("smoothgrad", "roc-auc"): lambda i: 0.99,
        ("deconvnet", "roc-auc"): lambda i: 0.6,
        ("gradient", "m-gt"): lambda i: 0.5,
        ("deconvnet", "m-gt"): lambda i: 0.5,
        ("smoothgrad", "m-gt"): lambda i: 0.2,
        ("lrp-z", "m-gt"): lambda i: 0.2,
    }
    return with_values(path, values)


def test_all_that_share_the_best_mean_are_named_and_least_p_values_are_bounds(shared):
    (run,) = read_runs([shared])
    found = verdict(run, MODEL, "roc-auc")
    assert [key[0] for key in found.winners] == ["lrp-z", "gradient", "smoothgrad"]
    assert [key[0] for key in found.rivals] == ["deconvnet"]
    assert found.tied == []
    assert best_elsewhere(run, MODEL) == {("gradient", "deconvnet"): ["m-gt"]}
    text = read(report([shared])).text
    assert "For this one trained model, lrp-z , gradient and smoothgrad share the highest mean roc-auc : 0.990" in text
    assert "Every other method is significantly worse." in text
    assert "Best by the other metrics: gradient and deconvnet (equal by m-gt )." in text
    assert "lrp-z (one of 3 with the same mean)" in text
    best = "best by roc-auc for this one trained model: lrp-z, gradient, smoothgrad; every other"
    assert best in console_summary([shared])
    table = means_table(run, MODEL, "region:brain")
    for metric, best in (("roc-auc", {"gradient", "lrp-z", "smoothgrad"}), ("m-gt", {"gradient", "deconvnet"})):
        assert {line.label for line in table.lines if line.cells[metric].best} == best
        assert not any(line.cells[metric].best and line.cells[metric].tied for line in table.lines)
    keys = sorted(found.compared)
    columns = [run.cube.series.index((MODEL, *key)) for key in keys]
    place = run.cube.metrics.index("roc-auc"), run.cube.variants.index("region:brain"), 0
    table = np.stack([run.cube.worst[(column, *place)] for column in columns], axis=1)
    (p,) = sign_flip_p_values([table])
    least = [pair for pair, value in zip(combinations(keys, 2), p, strict=True) if value == 1 / 10_000]
    assert 0 < len(least) < len(p)
    pairs = len(found.tests)
    assert (found.permutations, found.smallest_p, pairs) == (9_999, 1e-4, 15)
    bounds = [test for test in found.tests if found.p_text(test).startswith("≤ ")]
    assert {frozenset(test.keys) for test in bounds} == {frozenset(pair) for pair in least}
    assert {found.p_text(test) for test in bounds} == {f"≤ {pairs / 10_000:.3f}"} == {"≤ 0.002"}
    assert "no p value below 0.0001, which the correction for 15 pairs turns into 0.002" in text
    assert "At most (≤): none of the 9,999 random sign patterns gave so large a difference." in text


def test_one_that_is_like_any_of_the_best_is_not_called_worse(tmp_path):
    """lrp-z is 0.05 below gradient on every image, but far above and below smoothgrad, whose mean is gradient's."""
    path = make_run(tmp_path / "run", methods=FOUR, metrics=("roc-auc",), samples=24, pictures=0)
    values = {
        ("gradient", "roc-auc"): lambda i: 0.8,
        ("smoothgrad", "roc-auc"): lambda i: 0.8 + 0.2 * (-1) ** i,
        ("lrp-z", "roc-auc"): lambda i: 0.75,
        ("deconvnet", "roc-auc"): lambda i: 0.2,
    }
    (run,) = read_runs([with_values(path, values)])
    found = verdict(run, MODEL, "roc-auc")
    assert [key[0] for key in found.winners] == ["gradient", "smoothgrad"]
    assert found.test(("gradient", "max_abs"), ("lrp-z", "sum")).significant()
    assert [key[0] for key in found.tied] == ["lrp-z"]
    assert "Not significantly different from at least one of them: lrp-z ." in read(report([path])).text
    assert "indistinguishable from one of these or more: lrp-z" in console_summary([path])


def test_exact_p_values_are_no_bounds(tmp_path):
    path = make_run(tmp_path / "run", methods=FOUR, metrics=("roc-auc",), samples=13, undefined=False, pictures=0)
    (run,) = read_runs([path])
    found = verdict(run, MODEL, "roc-auc")
    assert found.exact
    assert (found.permutations, found.smallest_p) == (2**13, 0.0)
    text = read(report([path])).text
    assert "all 8,192 sign patterns" in text
    assert "≤" not in text.partition("Ranks and tests")[2]
    path = make_run(tmp_path / "two", methods=FOUR, metrics=("roc-auc",), samples=12, seeds=2, pictures=0)
    (run,) = read_runs([path])
    found = verdict(run, MODEL, "roc-auc")
    assert (found.exact, found.permutations) == (False, 9_999)


def test_ceilings_stand_only_under_metrics_that_ask_for_the_mask_itself(tmp_path):
    others = ("mcs", "mcr", "insertion-auc", "g-cf", "class-sensitivity", "edge-correlation")
    assert [metric for metric in ("roc-auc", "iou", *others) if has_ceiling(metric)] == ["roc-auc", "iou"]
    path = make_run(tmp_path / "run", methods=FOUR, metrics=("mcs", "roc-auc"), samples=24, pictures=0)
    (run,) = read_runs([path])
    both, alone = means_table(run, MODEL, "region:brain"), means_table(run, MODEL, "region:brain", ["mcs"])
    (oracle,) = both.groups["ceiling"]
    assert oracle.cells["roc-auc"].row is not None
    assert (oracle.cells["mcs"].row, oracle.cells["mcs"].absent) == (None, "no ceiling")
    assert {head.metric: head.normalised for head in both.heads} == {"mcs": False, "roc-auc": True}
    assert "ceiling" not in alone.groups
    assert re.search(r"^oracle +1\.000$", console_summary([path]), re.MULTILINE)
    only = report([make_run(tmp_path / "only", methods=FOUR, metrics=("mcs",), samples=24, pictures=0)])
    page = read(only).text.partition("Definitions of the metrics")[2]
    assert "Ceilings" not in page
    assert "of the way from a random map" not in read(only).text
