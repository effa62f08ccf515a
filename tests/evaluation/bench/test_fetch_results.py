"""Fetching published results."""

import shutil
import tarfile
import pandas as pd
import pytest
from salgen.errors import SalgenError
from salgen.evaluation.bench.fetch_results import fetch
from salgen.evaluation.bench.worlds import WORLDS


@pytest.fixture
def source(results, tmp_path):
    """A project that keeps results among other files."""
    shutil.copytree(results, tmp_path / "project" / "results")
    (tmp_path / "project" / "code.py").write_text("", encoding="utf-8")
    (tmp_path / "project" / "results" / "costs.csv").write_text("method,passes,seconds\n", encoding="utf-8")
    return tmp_path / "project"


@pytest.mark.parametrize("kind", ["folder", "archive", "address"])
def test_results_are_taken_from(kind, spec, results, source, tmp_path):
    given = str(source)
    if kind != "folder":
        with tarfile.open(tmp_path / "project.tar.gz", "w:gz") as archive:
            archive.add(source, "project-1.0")
        given = str(tmp_path / "project.tar.gz") if kind == "archive" else (tmp_path / "project.tar.gz").as_uri()
    new = tmp_path / "new" / "results"
    assert fetch(spec, given, new) == [new / WORLDS / world.name for world in spec.worlds]
    for world in spec.worlds:
        tables = [pd.read_parquet(folder / WORLDS / world.name / "scores.parquet") for folder in (new, results)]
        pd.testing.assert_frame_equal(*tables)
        assert (new / WORLDS / world.name / "network-seed0").is_dir() == (world.name in spec.kept)
    assert sorted(path.name for path in new.iterdir()) == ["costs.csv", WORLDS]
    assert not (new / WORLDS / "work").exists()


@pytest.mark.parametrize(
    ("given", "out", "message"),
    [
        ("nowhere", "new", "is no folder, file or address"),
        ("https://127.0.0.1:9/results.zip", "new", "cannot be fetched"),
        (".", "new", "holds no results of salgen-bench"),
        (".", "empty", "is there already"),
    ],
)
def test_what_cannot_be_had_is_said(spec, tmp_path, monkeypatch, given, out, message):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(SalgenError, match=message):
        fetch(spec, given, tmp_path / out)


def test_of_several_folders_of_results_the_outermost_is_taken(spec, source, tmp_path):
    shutil.copytree(source / "results", source / "salgen-bench" / "results")
    shutil.rmtree(source / "salgen-bench" / "results" / WORLDS / "mri-lesions-1")
    assert len(fetch(spec, str(source), tmp_path / "new")) == 3
