"""Fetching published results."""

import shutil
import tarfile
import pytest
from salgen.errors import SalgenError
from salgen.evaluation.bench.fetch_results import fetch
from salgen.evaluation.bench.published import SPEC
from salgen.evaluation.bench.rankings import main_entries, method_scores
from salgen.evaluation.bench.run_entry import RESULTS
from salgen.evaluation.bench.worlds import WORLDS

ENTRY = "perlin-lesions-lesion-cnn-plain"


@pytest.fixture
def source(out, tmp_path):
    """A project that keeps results among other files."""
    shutil.copytree(out / RESULTS, tmp_path / "project" / "results")
    (tmp_path / "project" / "code.py").write_text("", encoding="utf-8")
    (tmp_path / "project" / "results" / WORLDS / "signs-1").mkdir(parents=True)
    (tmp_path / "project" / "results" / WORLDS / "signs-1" / "world.json").write_text("{}", encoding="utf-8")
    return tmp_path / "project"


@pytest.mark.parametrize("kind", ["folder", "archive", "address"])
def test_results_are_taken_from(kind, spec, out, source, tmp_path):
    given = str(source)
    if kind != "folder":
        with tarfile.open(tmp_path / "project.tar.gz", "w:gz") as archive:
            archive.add(source, "project-1.0")
        given = str(tmp_path / "project.tar.gz") if kind == "archive" else (tmp_path / "project.tar.gz").as_uri()
    found = fetch(spec, given, tmp_path / "new" / "results")
    assert ENTRY in [path.name for path in found]
    scores = method_scores(spec, tmp_path / "new" / "results", main_entries(spec))
    expected = method_scores(spec, out / RESULTS, main_entries(spec))
    assert scores.keys() == expected.keys()
    assert all(scores[name].equals(expected[name]) for name in scores)
    assert not (tmp_path / "new" / "results" / "code.py").exists()
    assert (tmp_path / "new" / "results" / WORLDS / "signs-1" / "world.json").read_text() == "{}"


def test_altered_weights_are_refused_and_nothing_is_left(spec, source, tmp_path):
    weights = source / "results" / ENTRY / "lesion-cnn-seed1" / "weights.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(SalgenError, match=r"lesion-cnn-seed1/weights\.safetensors is not what was scored"):
        fetch(spec, str(source), tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["project"]


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
    shutil.rmtree(source / "salgen-bench" / "results" / ENTRY)
    found = fetch(spec, str(source), tmp_path / "new")
    assert ENTRY in [path.name for path in found]


def test_results_of_another_version_are_refused_for_every_split(spec, source, tmp_path):
    shutil.copytree(source / "results" / ENTRY, source / "results" / f"{ENTRY}-moved")
    (source / "results" / f"{ENTRY}-moved" / SPEC).write_text('{"version": 1, "sha256": "0"}', encoding="utf-8")
    with pytest.raises(SalgenError, match="moved is not of salgen-bench 1"):
        fetch(spec, str(source), tmp_path / "new")
