"""Whatever an archive holds, nothing is written outside the target, and what is wrong is one line."""

import gzip
import hashlib
import io
import os
import stat
import tarfile
import warnings
import zipfile
from itertools import product
import pytest
from made_datasets import contents
import salgen
from salgen.datasets.archives import archive_formats, unpacking
from salgen.datasets.archives.archive_formats import SUFFIXES
from salgen.datasets.archives.unpacking import unpack, unpacked
from salgen.datasets.archives.writing import archive
from salgen.errors import SalgenError
from salgen.evaluation.verification.verifying import verify
from salgen.files import cache_folder

every_form = pytest.mark.parametrize("suffix", SUFFIXES)
FILES = {"data/x": b"content", "README.md": b"about"}


def with_sums(files):
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())]
    return {**files, "SHA256SUMS": "".join(lines).encode()}


def in_tar(path, members, form=tarfile.USTAR_FORMAT):
    """A tar or tar.gz of other hands; a member is a name and content, or a `TarInfo`."""
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w", format=form) as out:
        for member in members:
            if not isinstance(member, tarfile.TarInfo):
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                out.addfile(info, io.BytesIO(member[1]))
            else:
                out.addfile(member)
    return path


def in_zip(path, members):
    """A zip of other hands; a member is a name, or a `ZipInfo`, and content."""
    with zipfile.ZipFile(path, "w") as out:
        for name, data in members:
            out.writestr(name, data)
    return path


def of_kind(kind, name, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def refused(path, place, message, **limits):
    """Unpacking, opening and verifying: one line each, and nothing left."""
    place.mkdir()
    before = contents(place.parent)
    with pytest.raises(SalgenError, match=message) as caught:
        unpack(path, place / "out", **limits)
    assert str(path) in str(caught.value)
    if not limits:
        with pytest.raises(SalgenError, match=message):
            salgen.load(path)
        assert len(verify(path)) >= 1
    assert contents(place.parent) == before
    assert list(place.iterdir()) == []


OUT = "has a name that could lead out of the folder"
UNSAFE = [
    *(([name], OUT) for name in ("/etc/x", "C:/x", "squares/../../x", "squares/./x", "squares//x", "squares\\..\\x")),
    *(([name], OUT) for name in ("squares/a\nb", "squares/\u202ex", "squares/x:stream")),
    (["squares/x", "squares/x"], "'squares/x' has the name of another one"),
    (["squares/x", "squares/x/y"], "'squares/x/y' has the name of another one"),
    (["squares/x/y", "squares/x"], "'squares/x' has the name of another one"),
    (["squares/x", "other/y"], "'other/y' does not lie in the folder 'squares'"),
    (["x"], "'x' does not lie in the folder"),
]


@every_form
@pytest.mark.parametrize(("names", "message"), UNSAFE, ids=[repr(names)[:40] for names, _ in UNSAFE])
def test_unsafe_names_are_refused(tmp_path, suffix, names, message):
    path = tmp_path / f"x{suffix}"
    members = [(name, b"bad") for name in names]
    with warnings.catch_warnings(action="ignore"):  # zipfile says that a name is there twice
        in_zip(path, members) if suffix == ".zip" else in_tar(path, members)
    refused(path, tmp_path / "place", message)


def test_a_compressed_zip_is_read_within_the_limits(tmp_path):
    for name, files in (("x", with_sums(FILES)), ("y", with_sums({"a": bytes(2 << 20)}))):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as out:
            for member, data in files.items():
                out.writestr(f"squares/{member}", data)
    assert contents(unpack(tmp_path / "x.zip", tmp_path / "out")) == with_sums(FILES)
    refused(tmp_path / "y.zip", tmp_path / "1", "with member 'squares/a' the archive holds more than 1048576 bytes")


KINDS = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE)
MODES = (stat.S_IFLNK | 0o777, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK)


@pytest.mark.parametrize(("suffix", "kind"), [*product((".tar", ".tar.gz"), KINDS), *product([".zip"], MODES)])
def test_only_files_and_folders_are_read(tmp_path, suffix, kind):
    path = tmp_path / f"x{suffix}"
    if suffix == ".zip":
        info = zipfile.ZipInfo("squares/x")
        info.external_attr = kind << 16
        in_zip(path, [(info, b"/etc")])
    else:
        in_tar(path, [of_kind(kind, "squares/x", "/etc/passwd")])
    refused(path, tmp_path / "place", "'squares/x' is a link, a device or the like: only files and folders")


@every_form
def test_what_is_no_archive_is_refused(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    for number, data in enumerate((b"", b"text", b"<html>" * 1000, bytes(10240), os.urandom(3000))):
        path.write_bytes(data)
        refused(path, tmp_path / str(number), "truncated or altered, or is another file|the archive is empty")


@every_form
def test_content_that_is_not_that_of_the_checksums_is_refused(tmp_path, suffix):
    sums = with_sums(FILES)
    for number, (files, message) in enumerate(
        [
            ({**sums, "README.md": b"other"}, "README.md: was altered"),
            ({**sums, "more": b"x"}, "more: is not listed in SHA256SUMS"),
            ({name: data for name, data in sums.items() if name != "data/x"}, "data/x: is missing"),
            (FILES, "SHA256SUMS is missing"),
            ({**sums, "SHA256SUMS": b"nonsense"}, "SHA256SUMS was altered"),
        ]
    ):
        path = archive(files, tmp_path / f"{number}{suffix}", "squares")
        refused(path, tmp_path / str(number), message)


@every_form
def test_more_members_or_bytes_than_allowed_are_refused(tmp_path, suffix):
    files = with_sums({f"f{number}": b"12345" for number in range(9)})
    path = archive(files, tmp_path / f"x{suffix}", "squares")
    refused(path, tmp_path / "1", "has more than 9 members", max_members=9)
    refused(path, tmp_path / "2", "more than 44 bytes", max_bytes=44)
    unpack(path, tmp_path / "out", max_members=10, max_bytes=1 << 20)
    assert contents(tmp_path / "out") == files


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@every_form
def test_what_other_tools_pack_plainly_is_read_too(tmp_path, suffix, form):
    files = with_sums({**FILES, "/".join(["data", *["folder" * 9] * 3]): b"far below"})
    path = tmp_path / f"x{suffix}"
    if suffix == ".zip":
        in_zip(path, [("squares/", b""), ("squares/data/", b""), *((f"squares/{name}", files[name]) for name in files)])
    else:
        folders = [of_kind(tarfile.DIRTYPE, name) for name in ("squares", "squares/data")]
        in_tar(path, [*folders, *((f"squares/{name}", files[name]) for name in files)], form)
    assert contents(unpack(path, tmp_path / "out")) == files


@every_form
def test_the_target_must_be_new_or_empty(tmp_path, suffix):
    files = with_sums(FILES)
    path = archive(files, tmp_path / f"x{suffix}", "squares")
    for name in ("empty", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert contents(unpack(path, tmp_path / "empty")) == files
    for target, message in [
        (tmp_path / "empty", "is not empty"),
        (path, "is not a folder: choose one"),
        (tmp_path / "link", "is not a folder: choose one"),
        (tmp_path / "none" / "out", "none is not a folder: create it"),
    ]:
        with pytest.raises(SalgenError, match=message):
            unpack(path, target)
    for missing in (tmp_path / "none.tar", tmp_path):
        with pytest.raises(SalgenError, match="is not a file"):
            unpack(missing, tmp_path / "out")
    assert contents(tmp_path / "empty") == files
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_cache_is_filled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))
    files = with_sums(FILES)
    path = archive(files, tmp_path / "x.tar", "squares")
    folder = unpacked(path)
    assert contents(folder) == files
    assert folder.is_relative_to(cache_folder() / "archives")
    monkeypatch.setattr(unpacking, "extract", None)  # nothing may be unpacked again
    assert unpacked(path) == folder


def test_gzip_is_read_from_any_writer(tmp_path):
    files = with_sums({"big": os.urandom(3 << 20), "zeros": bytes(3 << 20)})
    data = archive(files, tmp_path / "x.tar", "squares").read_bytes()
    for level in (0, 1, 9):
        path = tmp_path / f"{level}.tar.gz"
        path.write_bytes(gzip.compress(data, level))
        assert contents(unpack(path, tmp_path / str(level))) == files


def test_a_bomb_is_refused_by_its_header(tmp_path, monkeypatch):
    path = tmp_path / "x.tar.gz"
    head = tarfile.TarInfo("squares/x")
    head.size = 200 << 20
    path.write_bytes(gzip.compress(head.tobuf(tarfile.USTAR_FORMAT) + bytes(head.size)))

    def pieces(file):
        yield pytest.fail("its header says it: nothing is to be read")

    monkeypatch.setattr(archive_formats, "_pieces", pieces)
    with pytest.raises(SalgenError, match="the archive holds more than"):
        unpack(path, tmp_path / "out")


def test_a_bomb_behind_the_end_of_the_tar_is_not_expanded(tmp_path):
    files = with_sums(FILES)
    data = archive(files, tmp_path / "x.tar", "squares").read_bytes()
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(data + bytes(50 << 20)))
    assert contents(unpack(tmp_path / "x.tar.gz", tmp_path / "out")) == files
