import math
from pathlib import Path
import numpy as np
import pytest
import repeats
from salgen.evaluation.diagnostics import metric_check
from salgen.evaluation.diagnostics.metric_check import DEGRADATIONS, obstacle, table, trends, verdict
from salgen.evaluation.metrics.pointing_game import PointingGame
from salgen.registry import METRICS


@pytest.fixture(autouse=True, scope="module")
def _few_scenes():
    """With --torture as many as the page has."""
    with pytest.MonkeyPatch.context() as patch:
        if not repeats.torture:
            patch.setattr(metric_check, "SAMPLES", 12)
        metric_check._scenes.cache_clear()
        yield
    metric_check._scenes.cache_clear()


@pytest.mark.parametrize(
    ("values", "higher", "expected"),
    [
        ((1.0, 0.8, 0.8, 0.2), True, "falls"),
        ((0.0, 0.1, 0.5, 0.9), False, "falls"),
        ((1.0, 0.5, 0.6, 0.2), True, "rises at 0.5"),
        ((0.2, 0.1, 0.1, 0.1), False, "rises at 0.25"),
        ((0.3, 0.3, 0.3, 0.3), True, "flat"),
        ((1.0, 0.5, math.nan, math.nan), True, "falls"),
        ((0.5, math.nan, 0.4, 0.1), True, "rises at 0.5"),
    ],
)
def test_verdicts(values, higher, expected):
    assert verdict(values, higher, "sign flip") == expected


@pytest.mark.parametrize("way", DEGRADATIONS)
def test_the_first_step_is_the_truth_and_the_last_is_not(way):
    truth = np.zeros((1, 16, 16), dtype=bool)
    truth[0, 4:8, 4:8] = True
    degradation = DEGRADATIONS[way]
    assert np.array_equal(degradation.apply(truth, degradation.levels[0]), truth.astype(float))
    last = degradation.apply(truth, degradation.levels[-1])
    assert last.shape == truth.shape
    assert np.abs(last - truth).mean() > 0.01


class Backwards(PointingGame):
    """What the check must find: a metric that prefers misses."""

    def __call__(self, ranking):
        value, reason = super().__call__(ranking)
        return 1.0 - value, reason


def test_a_metric_that_prefers_worse_maps_is_found():
    found = trends({"backwards": Backwards()})
    assert all(trend.verdict.startswith("rises") for trend in found)
    lines = table(found).splitlines()
    assert lines[-1].startswith("| `backwards` | rises at 1 (0.00 to 1.00) ")
    assert len({len(line) for line in lines}) == 1  # the columns stand below each other


PAGE = (Path(__file__).parents[3] / "docs" / "metric_check.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", METRICS.names())
def test_the_page_says_what_every_metric_does(name):
    """The verdicts of `docs/metric_check.md`, or that it is left out and why."""
    metric = METRICS.create(name)
    if obstacle(metric):
        reads_more = metric.needs & {"method", "shuffled_maps", "training"} or name == "part-deletion"
        assert reads_more or metric.higher_is_better is None
        assert f"`{name}`" in PAGE.rpartition("Not here")[2]
        return
    found = trends({name: metric})
    assert any(np.isfinite(trend.values[0]) for trend in found)
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{name}` "))
    for cell, trend in zip(line.split("|")[2:-1], found, strict=True):
        stated, _, values = cell.strip(" )").partition(" (")
        first, _, last = values.partition(" to ")
        faint = first == last and {stated, trend.verdict} == {"falls", "flat"}  # in one of the page's scenes, say
        assert stated == trend.verdict or faint, trend
