"""Metrics that are not salgen's, in runs: recorded, kept, extended, scored again, verified."""

import numpy as np
import pytest
from kept_runs import rows
from own_modules import SMALL_DETECTOR, write_modules
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError
from salgen.evaluation.report import console_summary
from salgen.evaluation.runs.artifacts.run_record import RunRecord
from salgen.evaluation.scoring.metric_selection import bounds, higher_is_better
from salgen.import_paths import imported

METRICS = """
from dataclasses import dataclass
from typing import ClassVar
from salgen.plugins import MaskMetric, param

CALLS = []

def error(map, mask, power=1):
    CALLS.append(map.shape)
    return (abs(map - mask) ** power).mean()

error.higher_is_better, error.bounds = False, (0, float("inf"))

@dataclass(frozen=True)
class Share(MaskMetric):
    name: ClassVar[str] = "share"
    reference: ClassVar[str] = "this test"
    above: float = param(0.0, "the threshold")

    def __call__(self, ranking):
        return (ranking.positives > self.above).mean(), ""
"""
OWN = ["my_metrics:error", "roc-auc", "my_metrics:Share:above=0.1", "squared=my_metrics:error:power=2"]
NAMES = ["error", "roc-auc", "share:above=0.1", "squared"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return write_modules(tmp_path, monkeypatch, my_models=SMALL_DETECTOR.format("ReLU"), my_metrics=METRICS)


def evaluated(data, out, metrics, **changes):
    given = {"model": "my_models:detector", "methods": ["gradient"], "limit": 6, "keep_maps": True, **changes}
    return salgen.evaluate(data, metrics=metrics, out=out, **given)


def test_functions_and_classes_are_metrics_of_a_run(data, folder):
    run = evaluated(data, folder / "run", OWN)
    error, calls = imported("my_metrics:error", "metric", ""), imported("my_metrics:CALLS", "metric", "")
    assert run.record.metrics == NAMES
    mine, share, squared = run.record.own_metrics
    assert (mine.import_path, mine.higher_is_better, mine.bounds) == ("my_metrics:error", False, [0, None])
    assert (share.import_path, squared.import_path) == ("my_metrics:Share", "my_metrics:error:power=2")
    maps, test = run.maps("gradient"), salgen.load(data, "test")
    masks = np.stack([test[test.ids.index(name)]["mask"] for name in maps.ids])
    found = run.scores[(run.scores.method == "gradient") & (run.scores.metric == "error")].set_index("sample_id")
    assert found.loc[list(maps.ids), "value"].tolist() == pytest.approx(list(map(error, maps.values, masks)))
    assert (higher_is_better("squared"), bounds("error")) == (False, (0, float("inf")))
    assert "error" in console_summary([run])
    assert "my_metrics:error" in run.report().read_text(encoding="utf-8")
    assert salgen.verify(run) == []

    before, first = len(calls), rows(run.path)
    given = {"error": error, "roc-auc": "roc-auc", "share:above=0.1": OWN[2], "squared": OWN[3].partition("=")[2]}
    assert rows(evaluated(data, run.path, given).path).equals(first)
    assert len(calls) == before, "what is as it was is not computed again"
    with pytest.raises(SalgenError, match="the run's metric 'error' is my_metrics:error: give it again"):
        evaluated(data, run.path, ["iou"])

    again = salgen.rescore(run, metrics={"auc": "roc-auc", "darkest": lambda values, mask: values[mask].min()})
    assert again.means["auc"].equals(run.means["roc-auc"].rename("auc"))
    assert [record.stands_for for record in again.record.own_metrics] == ["roc-auc", None]
    assert "not re-runnable" in again.record.own_metrics[1].reference


def test_an_edited_function_is_computed_again_and_workers_import_it(data, folder, monkeypatch):
    run = evaluated(data, folder / "run", ["my_metrics:error"])
    first = rows(run.path)
    write_modules(folder, monkeypatch, my_metrics=METRICS.replace("mean()", "mean() + 1"))
    again = rows(evaluated(data, run.path, "my_metrics:error").path)
    assert np.allclose(again.value, first.value + 1, equal_nan=True)
    with pytest.raises(SalgenError, match=r"metric 'mine': workers cannot import the function .*<lambda>"):
        evaluated(data, folder / "other", {"mine": lambda values, mask: 0}, executor="ray")


@pytest.mark.parametrize(
    ("metrics", "says"),
    [
        (["my_metrics:nothing"], "metric my_metrics:nothing: cannot be imported: AttributeError"),
        ({"roc-auc": "iou"}, "the name is salgen's"),
        ([lambda values, mask: 0], "'<lambda>': the name is salgen's, or none for a table"),
        (["my_metrics:error", "error=my_metrics:Share"], "'error' is the name of several metrics"),
        ({"mine": "ranking"}, "stands for several metrics"),
        ({"mine": 3}, "3 is not a metric"),
        ("roc-auc,iou", "holds several metrics: give a list"),
        ({"mine": lambda values: 0}, "metric 'mine' failed: TypeError"),
    ],
)
def test_what_is_wrong_with_one_is_one_line(data, folder, metrics, says):
    with pytest.raises(SalgenError, match=says):
        evaluated(data, folder / "run", metrics)


def test_the_command(data, folder, capsys):
    words = ["evaluate", str(data), "--model", "my_models:detector", "-m", "gradient", "--limit", "6", "--out", "run"]
    assert main([*words, "--metrics", ",".join(OWN)]) == 0
    assert RunRecord.read(folder / "run" / "run.json").metrics == NAMES
    assert "squared" in capsys.readouterr().out
