"""Damaged archives: opened, unpacked and verified."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
import pytest
from mutations import mutated_bytes, mutated_text
from trials import Box, BrokenError, Calls, Change, command, damage, verified
import salgen
from salgen.errors import SalgenError

TINY = ("image_size=16,16", "diameter=3", "lesions=1", "slices=12")
BLOCK = 512
NUMBERS = ("mode", "uid", "gid", "mtime", "devmajor", "devminor")
KINDS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CONTTYPE, b"Z")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one data set as an archive of each form."""
    place = tmp_path_factory.mktemp("original")
    made, folder = place / "tiny", place / "shipped"
    folder.mkdir()
    words = [f"--set={pair}" for pair in TINY]
    command("make", "perlin-lesions", str(made), "--train=2", "--val=1", "--test=2", "--workers=1", *words)
    for form in (".tar", ".tar.gz", ".zip"):
        command("publish", str(made), str(folder / f"tiny{form}"), "--license", "CC0-1.0", "--date", "2026-11-22")
    return folder


def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
    """Open, unpack and verify an archive, of which it or the file of its digest was altered."""
    archive = path.with_name(path.name.removesuffix(".sha256"))
    target = box.out / "unpacked"
    calls: dict[str, Callable[[], object]] = {
        "verify": lambda: verified(archive, altered, 1),
        "unpack": lambda: unpacked(archive, target),
        "open": lambda: salgen.load(archive)[0],
    }
    if rng.random() < 0.05:
        calls["salgen verify"] = lambda: command("verify", str(archive), "--samples", "1")
        calls["salgen unpack"] = lambda: command("unpack", str(archive), str(box.out / "by-command"))
    return archive.name, calls


def unpacked(archive: Path, target: Path) -> None:
    """Unpack: all of it or nothing."""
    try:
        salgen.unpack(archive, target)
    except SalgenError:
        left = [path.name for path in target.parent.iterdir()]
        if left:
            raise BrokenError(f"refused, but left {left}") from None
        raise
    if salgen.verify(target, samples=0):
        raise BrokenError("what was unpacked is not sound")


def other_header(data: bytes, rng: Random) -> bytes:
    """A tar in which a header has another entry and a checksum that is right."""
    places = [place for place in range(0, len(data), BLOCK) if data[place + 257 : place + 262] == b"ustar"]
    place = rng.choice(places)
    header = bytearray(mutated_bytes(data[place : place + BLOCK], rng)[:BLOCK].ljust(BLOCK, b"\0"))
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return data[:place] + header + data[place + BLOCK :]


def strange(data: bytes, rng: Random) -> bytes:
    """As other tools write archives, with names, kinds, sizes and repetitions that no data set has."""
    return (strange_zip if data.startswith(b"PK") else strange_tar)(data, rng)


@pytest.mark.parametrize(
    ("kind", "large", "files", "change"),
    [
        ("archives .tar", 500, "tiny.tar", mutated_bytes),
        ("archives .tar.gz", 400, "tiny.tar.gz", mutated_bytes),
        ("archives .zip", 500, "tiny.zip", mutated_bytes),
        ("digests of archives", 200, "*.sha256", mutated_bytes),
        ("headers of .tar", 300, "tiny.tar", other_header),
        ("members of archives", 300, "tiny.tar tiny.zip", strange),
    ],
)
def test_damaged(request: pytest.FixtureRequest, box: Box, kind: str, large: int, files: str, change: Change) -> None:
    damage(request, box, kind, large, files, change, look)


def strange_name(name: str, rng: Random) -> str:
    ways = (
        lambda: name,
        lambda: "../" * rng.randint(1, 5) + name,
        lambda: "/" + name,
        lambda: name.upper(),
        lambda: name.replace("/", "\\"),
        lambda: name + rng.choice((".", " ", "/", ":x", "\u0301", "\0", "\n")),
        lambda: name.replace("tiny", rng.choice(("con", "..", "", "TINY", "other", "~")), 1),
        lambda: "/".join(["tiny", *["d" * 10] * rng.choice((3, 60))]),
        lambda: mutated_text(name, rng).encode("utf-8", "replace").decode(),
    )
    return rng.choice(ways)()


def strange_tar(written: bytes, rng: Random) -> bytes:
    buffer = io.BytesIO()
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with (
        tarfile.open(fileobj=io.BytesIO(written)) as source,
        tarfile.open(fileobj=buffer, mode="w", format=form) as target,
    ):
        members = source.getmembers()
        chosen = rng.randrange(len(members))
        for number, member in enumerate(members):
            found = source.extractfile(member)
            data = found.read() if found else b""
            if number == chosen:
                member.name = strange_name(member.name, rng)
                if rng.random() < 0.4:
                    member.type, member.linkname, member.size = rng.choice(KINDS), "../../outside", 0
                    data = b""
                if rng.random() < 0.2:
                    setattr(member, rng.choice(NUMBERS), rng.choice((0, 1, 0o7777)))
            for _ in range(1 + (number == chosen and rng.random() < 0.2)):
                try:
                    target.addfile(member, io.BytesIO(data))
                except (ValueError, UnicodeError):  # this form cannot write such a name
                    member.name = "tiny/../x"
                    target.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def strange_zip(written: bytes, rng: Random) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written)) as source, zipfile.ZipFile(buffer, "w") as target:
        chosen = rng.choice(source.namelist())
        for info in source.infolist():
            data, name = source.read(info), info.filename
            if name == chosen:
                info = zipfile.ZipInfo(strange_name(name, rng) or "x")
                info.compress_type = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
                info.external_attr = rng.choice((0o100644, 0o120777, 0o040755, 0o020666, 0)) << 16
                if rng.random() < 0.2:
                    data = b"\0" * rng.choice((0, 1, 1 << 24))
            target.writestr(info, data)
    return buffer.getvalue()
