"""`salgen.json` survives being written and read, and refuses what it is not."""

import json
import pytest
from salgen.datasets.format.manifest import Manifest, describe, read_manifest
from salgen.errors import SalgenError
from salgen.generators.factory import generator


@pytest.fixture
def manifest():
    squares = generator("squares")
    return describe(squares, squares.spec({"zoo": 1, "test": 3, "train": 7, "alp": 2}, 5))


def test_it_survives_text(manifest):
    again = Manifest.from_text(manifest.to_text())
    assert again == manifest
    assert list(again.tasks) == ["label", "corner"]
    assert again.default_task == "label"
    assert again.splits == ["train", "test", "alp", "zoo"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda v: v.pop("regions"), "not a salgen data set description"),
        (lambda v: v["spec"].pop("seed"), "not a salgen data set description"),
        (lambda v: v["spec"].update(seed=6), "fingerprint"),
        (lambda v: v.update(format=99), "format 99"),
        (lambda v: v.update(tasks=3), "not a salgen data set description"),
        (lambda v: v.update(samples_per_shard="5"), "not a salgen data set description"),
        (lambda v: v.update(factors=[None]), "not a salgen data set description"),
    ],
)
def test_an_altered_file_is_refused(folder, edit, message):
    path = folder / "salgen.json"
    values = json.loads(path.read_text())
    edit(values)
    path.write_text(json.dumps(values))
    with pytest.raises(SalgenError, match=message) as caught:
        read_manifest(folder)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff\xfe"])
def test_a_broken_file_is_refused(folder, data):
    (folder / "salgen.json").write_bytes(data)
    with pytest.raises(SalgenError, match=r"salgen\.json"):
        read_manifest(folder)


def test_a_missing_or_foreign_folder_is_refused(tmp_path):
    with pytest.raises(SalgenError, match="does not exist"):
        read_manifest(tmp_path / "none")
    with pytest.raises(SalgenError, match="not a salgen data set"):
        read_manifest(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SalgenError, match="not a folder"):
        read_manifest(tmp_path / "file")
