"""The checks of salgen-bench: numbers of an evaluation and of a sweep by hand, and shown on a method's page."""

import dataclasses
import shutil
import pandas as pd
import pytest
from salgen.errors import SalgenError
from salgen.evaluation.bench.board import board
from salgen.evaluation.bench.method_checks import read_checks, run_checks
from salgen.evaluation.bench.run_entry import CHECKPOINTS, DATA, RESULTS
from salgen.evaluation.bench.versions import BenchChecks
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.running import evaluate

ENTRY = "perlin-lesions-lesion-cnn-reliance"
IMAGES = 8


@pytest.fixture(scope="module")
def checked(spec, out, tmp_path_factory):
    """A version with checks, and a folder in which they are done."""
    spec = dataclasses.replace(spec, checks=BenchChecks(ENTRY, IMAGES, "depth=0.1:1:6", ["edge-correlation"]))
    folder = tmp_path_factory.mktemp("checks")
    for name in (DATA, CHECKPOINTS, RESULTS):
        shutil.copytree(out / name, folder / name)
    run_checks(spec, folder, methods=["gradient", "grad-cam"])
    return spec, folder


def test_sanity_checks_are_those_of_an_evaluation(checked, tmp_path):
    spec, folder = checked
    asked = {"methods": ["gradient"], "metrics": ["edge-correlation"], "limit": IMAGES}
    checkpoint = folder / CHECKPOINTS / ENTRY / "lesion-cnn-seed0"
    run = evaluate(folder / DATA / "perlin-lesions", model=str(checkpoint), out=tmp_path / "run", **asked)
    scores = Run(run).scores.query("method == 'gradient'").drop_duplicates("sample_id")
    rows = read_checks(spec, folder / RESULTS).query("subject == 'gradient' and measure == 'edge-correlation'")
    (row,) = rows.itertuples()
    assert row.value == pytest.approx(scores["value"].mean(), abs=1e-5)
    assert row.low <= row.value <= row.high


def test_thresholds_are_those_of_the_sweep(checked):
    spec, folder = checked
    found = pd.read_csv(folder / "checks" / "doses" / "thresholds.csv").set_index("subject")
    rows = read_checks(spec, folder / RESULTS).query("measure == 'threshold'").set_index("subject")
    assert {"gradient", "grad-cam", "sobel"} < set(rows.index) == set(found.index)
    assert rows["outcome"].equals(found.loc[rows.index, "outcome"])
    expected = found.loc[rows.index, "threshold"].to_numpy()
    assert rows["value"].to_numpy() == pytest.approx(expected, rel=1e-5, nan_ok=True)


def test_costs_are_in_passes(checked):
    spec, folder = checked
    costs = read_checks(spec, folder / RESULTS).query("measure == 'passes'").set_index("subject")["value"]
    assert set(costs.index) == {"gradient", "grad-cam"}
    assert 2 <= costs["gradient"] < 3
    assert 1 < costs["grad-cam"] < 2


def test_a_methods_page_has_its_checks(checked, tmp_path):
    spec, folder = checked
    board(spec, folder / RESULTS, tmp_path / "site")
    page = (tmp_path / "site" / "methods" / "gradient.html").read_text(encoding="utf-8")
    section = page[page.index('id="checks"') :]
    for row in read_checks(spec, folder / RESULTS).query("subject == 'gradient'").itertuples():
        assert (f"{row.value:.3f}" if row.outcome in ("", "found") else row.outcome) in section
    assert "Spearman" in section


def test_checks_that_were_not_computed_are_not_shown_and_take_a_checkpoint(spec, out, tmp_path):
    board(spec, out / RESULTS, tmp_path / "site")
    assert 'id="checks"' not in (tmp_path / "site" / "methods" / "gradient.html").read_text(encoding="utf-8")
    with pytest.raises(SalgenError, match=f"has no checkpoint of {ENTRY}"):
        run_checks(spec, tmp_path)
