"""An altered byte of an archive with its digest is found, and so is everything that would be found in the folder."""

import tempfile
from pathlib import Path
import pytest
from made_datasets import STATED, made
import salgen
from salgen.datasets.archives.archive_formats import SUFFIXES
from salgen.errors import SalgenError
from salgen.evaluation.publishing.publishing import publish
from salgen.evaluation.verification.verifying import verify

every_form = pytest.mark.parametrize("suffix", SUFFIXES)


def small(tmp_path, suffix):
    folder = made(tmp_path / "squares", splits={"train": 2, "test": 2})
    return publish(folder, tmp_path / f"x{suffix}", **STATED)


@every_form
def test_the_file_beside_it_is_checked(tmp_path, suffix):
    path = small(tmp_path, suffix)
    beside = path.with_name(f"{path.name}.sha256")
    text = beside.read_text()
    for altered in ("0" * 64 + text[64:], text.replace(path.name, "other"), "nonsense", text + text):
        beside.write_text(altered)
        (problem,) = verify(path, samples=0)
        assert problem == f"{beside.name}: is not the SHA-256 of {path.name}: one of the two was altered"
    beside.unlink()
    assert verify(path, samples=0) == []


@every_form
def test_nothing_is_left_behind(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = small(tmp_path, suffix)
    assert verify(path) == []
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert verify(path) != []
    with pytest.raises(SalgenError):
        salgen.load(path)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert Path(tempfile.gettempdir()) == tmp_path / "temporary"
