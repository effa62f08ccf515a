"""The same bytes for the same data set, whole or not at all, and such as other tools read."""

import hashlib
import os
import tarfile
import zipfile
import pytest
from made_datasets import STATED, contents, made
import salgen
from salgen.datasets.archives.archive_formats import SUFFIXES
from salgen.datasets.archives.unpacking import unpack
from salgen.datasets.archives.writing import archive
from salgen.errors import SalgenError
from salgen.evaluation.publishing.publishing import publish
from salgen.evaluation.verification.verifying import verify

FILES = {"b/c.txt": b"second", "a.txt": b"first", "empty": b""}
every_form = pytest.mark.parametrize("suffix", SUFFIXES)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@every_form
def test_published_twice_it_has_the_same_bytes_and_a_digest_beside_it(tmp_path, folder, suffix):
    again = made(tmp_path / "again" / folder.name, workers=2)
    for path in again.rglob("*"):
        os.utime(path, (1, 1))
    (again / "README.md").chmod(0o600)
    outs = [tmp_path / f"squares-1{suffix}", tmp_path / f"squares-2{suffix}"]
    data = [publish(path, out, **STATED).read_bytes() for path, out in zip((folder, again), outs, strict=True)]
    assert data[0] == data[1]
    digest = (tmp_path / f"squares-1{suffix}.sha256").read_text()
    assert digest == f"{hashlib.sha256(data[0]).hexdigest()}  squares-1{suffix}\n"


@every_form
def test_unpacked_it_is_a_sound_data_set_with_the_same_samples(tmp_path, folder, suffix):
    packed = publish(folder, tmp_path / f"x{suffix}", **STATED)
    assert verify(packed, samples=100) == []
    out = unpack(packed, tmp_path / "out")
    assert verify(out, samples=100) == []
    there, here = contents(out), contents(folder)
    assert {name for name in here if name.startswith("data/")} == {name for name in there if name.startswith("data/")}
    assert all(there[name] == data for name, data in here.items() if name.startswith("data/") or name == "salgen.json")
    opened, original = salgen.load(packed, "test"), salgen.load(folder, "test")
    assert opened.name == "squares"
    assert (opened.images() == original.images()).all()
    assert [item["id"] for item in opened] == [item["id"] for item in original]


@every_form
def test_other_tools_read_what_is_written(tmp_path, suffix):
    packed = archive(FILES, tmp_path / f"x{suffix}", "root")
    expected = {f"root/{name}": data for name, data in FILES.items()}
    if suffix == ".zip":
        with zipfile.ZipFile(packed) as found:
            assert found.testzip() is None
            there = {info.filename: found.read(info) for info in found.infolist()}
            assert {info.date_time for info in found.infolist()} == {(1980, 1, 1, 0, 0, 0)}
            assert {info.external_attr >> 16 for info in found.infolist()} == {0o100644}
    else:
        with tarfile.open(packed) as found:
            there = {info.name: found.extractfile(info).read() for info in found}
            infos = found.getmembers()
            assert {(i.mtime, i.uid, i.gid, i.uname, i.gname, i.mode) for i in infos} == {(0, 0, 0, "", "", 0o644)}
            assert found.pax_headers == {}
    assert there == expected
    assert list(there) == sorted(expected)


@pytest.mark.parametrize("name", ["x", "x.rar", "x.tgz", ".tar", "x.tar.bz2", "x.ZIP"])
def test_an_unknown_suffix_is_refused(tmp_path, name):
    with pytest.raises(SalgenError, match=r"end its name in one of \.tar, \.tar\.gz, \.zip"):
        archive(FILES, tmp_path / name, "root")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_a_name_too_long_for_a_tar_is_said(tmp_path, suffix):
    with pytest.raises(SalgenError, match=r"name is too long: give OUT the suffix \.zip"):
        archive({"a": b"", "b" * 200: b""}, tmp_path / f"x{suffix}", "root")
    assert names_in(tmp_path) == []


def test_what_would_not_be_unpacked_is_not_written(tmp_path):
    with pytest.raises(SalgenError, match=r"expand to more than 20 times its size.*: choose \.tar"):
        archive({"a": bytes(4 << 20)}, tmp_path / "x.tar.gz", "root")
    archive({"a": bytes(4 << 20)}, tmp_path / "x.tar", "root")


def test_an_archive_is_written_to_a_place_of_its_own(tmp_path, folder):
    (tmp_path / "mine.tar").write_bytes(b"mine")
    for out, message in [
        (tmp_path / "mine.tar", "already exists: remove it or choose another name"),
        (tmp_path / "none" / "x.tar", "is not a folder: create it"),
        (folder / "x.tar", "lies within the folder that is published"),
    ]:
        with pytest.raises(SalgenError, match=message):
            publish(folder, out, **STATED)
    assert names_in(tmp_path) == ["mine.tar", "squares", "squares.log"]
    assert (tmp_path / "mine.tar").read_bytes() == b"mine"
