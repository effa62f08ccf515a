"""The checks of salgen-bench, shown on a method's page."""

import dataclasses
import shutil
import pandas as pd
import pytest
from salgen.evaluation.bench.board import board
from salgen.evaluation.bench.method_checks import CHECKS, COLUMNS, read_checks
from salgen.evaluation.bench.run_entry import RESULTS
from salgen.evaluation.bench.versions import BenchChecks

ENTRY = "perlin-lesions-lesion-cnn-reliance"
ROWS = [
    ("gradient", "threshold", "found", 0.213, 0.1, 0.3),
    ("grad-cam", "threshold", "not monotone", None, None, None),
    ("gradient", "edge-correlation", "", 0.412, 0.3, 0.5),
    ("gradient", "passes", "", 2.9, None, None),
]


@pytest.fixture
def checked(spec, out, tmp_path):
    """A version with checks, and a folder that holds them."""
    shutil.copytree(out / RESULTS, tmp_path / RESULTS)
    pd.DataFrame(ROWS, columns=COLUMNS).to_csv(tmp_path / RESULTS / ENTRY / CHECKS, index=False)
    return dataclasses.replace(spec, checks=BenchChecks(ENTRY, 8, "depth=0.1:1:6", ["edge-correlation"])), tmp_path


def test_a_methods_page_has_its_checks(checked, tmp_path):
    spec, folder = checked
    board(spec, folder / RESULTS, tmp_path / "site")
    page = (tmp_path / "site" / "methods" / "gradient.html").read_text(encoding="utf-8")
    section = page[page.index('id="checks"') :]
    for row in read_checks(spec, folder / RESULTS).query("subject == 'gradient'").itertuples():
        assert (f"{row.value:.3f}" if row.outcome in ("", "found") else row.outcome) in section
    assert "Spearman" in section


def test_checks_that_were_not_computed_are_not_shown(spec, out, tmp_path):
    board(spec, out / RESULTS, tmp_path / "site")
    assert 'id="checks"' not in (tmp_path / "site" / "methods" / "gradient.html").read_text(encoding="utf-8")
