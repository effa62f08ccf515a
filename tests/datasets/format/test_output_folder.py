import os
import platform
import pytest
from salgen.datasets.format.output_folder import check_outside, sole_writer
from salgen.errors import SalgenError


def test_the_second_writer_is_told_of_the_first(tmp_path):
    who = f"(process {os.getpid()} on {platform.node()})"
    for _ in range(2):  # and again, once the first is done
        with sole_writer(tmp_path / "out"):
            with sole_writer(tmp_path / "other"):
                pass
            busy = pytest.raises(SalgenError, match="out is being written by another salgen process")
            with busy as refused, sole_writer(tmp_path / "." / "out"):
                pass
        assert who in str(refused.value)


@pytest.mark.parametrize(
    ("files", "kind", "models"),
    [
        (["salgen.json"], "data set", True),
        (["run.json", "scores.parquet"], "run", False),
        (["run.json", "SHA256SUMS"], "run", True),
    ],
)
def test_nothing_is_written_within_what_is_verified(tmp_path, files, kind, models):
    whole = tmp_path / "whole"
    whole.mkdir()
    for name in files:
        (whole / name).touch()
    check_outside(whole)
    check_outside(tmp_path / "beside")
    with pytest.raises(SalgenError, match=f"new lies within the {kind} {whole}"), sole_writer(whole / "deep" / "new"):
        pass
    if models:
        with pytest.raises(SalgenError, match="choose a place outside it"):
            check_outside(whole / "new", in_a_run=True)
    else:
        check_outside(whole / "new", in_a_run=True)


def test_a_file_of_that_name_alone_is_no_run(tmp_path):
    for name in ("run.json", "SHA256SUMS", "scores.parquet"):
        (tmp_path / name).touch()
        check_outside(tmp_path / "new")
        (tmp_path / name).unlink()
