"""A sound data set has no problems; every fault is found, and all at once."""

import numpy as np
import pytest
from forged_rows import SHARD, brighten, brighten_and_sign, forge
from made_datasets import made
from squares import Squares
from salgen.datasets.format import png
from salgen.datasets.preview.dataset_summary import describe
from salgen.errors import SalgenError
from salgen.evaluation.verification.verifying import verify


def positive(rows):
    return next(row for row in rows if row["label"])


@pytest.mark.parametrize(
    "arguments",
    [{}, {"parameters": {"channels": 3}}, {"parameters": {"bit_depth": 16}}, {"twins": False}, {"splits": {"val": 1}}],
    ids=["grey", "colour", "deep", "no twins", "one sample"],
)
def test_a_sound_data_set_has_no_problems(tmp_path, arguments):
    folder = made(tmp_path / "squares", **arguments)
    assert verify(folder, samples=100) == []
    (folder / ".git").mkdir()  # what version control adds is no problem
    (folder / ".git/HEAD").write_text("x")
    (folder / ".gitattributes").write_text("x")
    assert verify(folder) == []


def test_all_faults_of_files_are_named_at_once(folder):
    (folder / "README.md").write_text("nothing")
    (folder / "croissant.json").unlink()
    (folder / "notes.txt").write_text("mine")
    (folder / "data/test-00000-of-00002.parquet").unlink()
    shard = folder / SHARD
    shard.write_bytes(shard.read_bytes()[:-100])
    problems = verify(folder)
    for said in (
        "README.md: was altered",
        "croissant.json: is missing",
        "notes.txt: is not a file of this data set",
        "data/test-00000-of-00002.parquet: is missing",
        f"{SHARD}: was truncated",
        f"{SHARD} is truncated or altered",
    ):
        assert sum(said in problem for problem in problems) == 1, said
    assert len(problems) == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "SHA256SUMS is missing"), ("what\n", "SHA256SUMS was altered"), ("", "has no line for README.md")],
)
def test_checksums_that_are_missing_or_malformed_are_a_problem(folder, text, said):
    (folder / "SHA256SUMS").unlink()
    if text is not None:
        (folder / "SHA256SUMS").write_text(text)
    assert any(said in problem for problem in verify(folder))


def shrink_mask(rows):
    mask = png.decode_mask(positive(rows)["mask"]["bytes"])
    mask[np.argwhere(mask)[0][0], np.argwhere(mask)[0][1]] = False
    positive(rows)["mask"]["bytes"] = png.encode_mask(mask)


def move_the_square(rows):
    rows[0]["recipe"] = rows[0]["recipe"].replace('"row":', '"row":1')


def grow_mask(rows):
    positive(rows)["mask"]["bytes"] = png.encode_mask(np.ones((12, 16), dtype=bool))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (brighten, f"{SHARD}: pixels are not those of pixels_sha256: train-000005"),
        (brighten_and_sign, "sample train-000005: rendered again, it differs in image"),
        (shrink_mask, f"{SHARD}: image and twin differ outside the mask: train-00000"),
        (shrink_mask, "rendered again, it differs in mask"),
        (grow_mask, "rendered again, it differs in mask"),
        (lambda rows: positive(rows).update(twin=None), "rendered again, it differs in twin"),
        (lambda rows: rows[0].update(label=1 - rows[0]["label"]), "train-000005: rendered again, it differs in label"),
        (lambda rows: rows[0].update(cluster=rows[1]["cluster"]), "rendered again, it differs in cluster"),
        (lambda rows: rows[0].update(factors={"row": 0.5, "column": 1.0}), "rendered again, it differs in factors"),
        (move_the_square, "sample train-000005: drawn again, it has another recipe"),
        (lambda rows: rows[0].update(recipe="{}"), "sample train-000005: drawn again, it has another recipe"),
    ],
)
def test_a_forged_shard_with_fitting_checksums_is_found(folder, change, said):
    forge(folder, change)
    problems = verify(folder, samples=100)
    assert any(said in problem for problem in problems), problems


def test_a_generator_that_says_it_is_not_exact_is_taken_at_its_word(tmp_path, monkeypatch):
    folder = made(tmp_path / "flawed", parameters={"leaky": True})
    assert verify(folder) == []
    assert "**Image and twin may differ outside `mask`**" in (folder / "README.md").read_text()
    assert "let them differ outside the mask" in describe(folder)
    assert "may differ outside the mask" in (folder / "croissant.json").read_text()
    monkeypatch.setattr(Squares, "exact", True)
    problems = verify(made(tmp_path / "lying", parameters={"leaky": True}))
    assert any("image and twin differ outside the mask" in problem for problem in problems)


def test_samples_bounds_the_rendering(folder):
    forge(folder, grow_mask)
    assert verify(folder, samples=0) == []
    assert verify(folder, samples=1) == []
    assert len(verify(folder, samples=22)) == 1


def test_another_source_or_version_of_the_generator_is_said_and_why(folder, monkeypatch):
    (problem,) = verify(folder, source="elsewhere")
    assert "no sample could be rendered again" in problem
    monkeypatch.setattr(Squares, "version", "2")
    (problem,) = verify(folder)
    assert "no sample could be rendered again: made by squares version 1, but version 2 is installed" in problem


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SalgenError, match="none does not exist"):
        verify(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(SalgenError, match="file is not a folder"):
        verify(tmp_path / "file")
    (tmp_path / "file").unlink()
    assert any("not a salgen data set" in problem for problem in verify(tmp_path))
