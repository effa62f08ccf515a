"""Damaged archives: opened, unpacked and verified."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
import pytest
from mutations import mutated_bytes, mutated_text
from trials import Box, BrokenError, command, run
import salgen
from salgen.errors import SalgenError

TINY = ("image_size=16,16", "diameter=3", "lesions=1", "slices=12")
BLOCK = 512
NUMBERS = ("mode", "uid", "gid", "mtime", "devmajor", "devminor")
KINDS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CONTTYPE, b"Z")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one data set as an archive of each form."""
    place = tmp_path_factory.mktemp("original")
    made, folder = place / "tiny", place / "shipped"
    folder.mkdir()
    words = [f"--set={pair}" for pair in TINY]
    command("make", "perlin-lesions", str(made), "--train=2", "--val=1", "--test=2", "--workers=1", *words)
    for form in (".tar", ".tar.gz", ".zip"):
        command("publish", str(made), str(folder / f"tiny{form}"), "--license", "CC0-1.0", "--date", "2026-11-22")
    return folder


@pytest.fixture
def box(shipped: Path) -> Iterator[Box]:
    made = Box(shipped)
    yield made
    made.remove()


def tried(box: Box, name: str, data: bytes, rng: Random) -> str:
    """Put other bytes into one archive, or the file of its digest, and open, unpack and verify it."""
    path = box.inside / name
    altered = data != path.read_bytes()
    path.write_bytes(data)
    archive = path.with_name(name.removesuffix(".sha256"))
    target = box.out / "unpacked"
    calls: dict[str, Callable[[], object]] = {
        "verify": lambda: verified(archive, altered),
        "unpack": lambda: unpacked(archive, target),
        "open": lambda: salgen.load(archive)[0],
    }
    if rng.random() < 0.05:
        calls["salgen verify"] = lambda: command("verify", str(archive), "--samples", "1")
        calls["salgen unpack"] = lambda: command("unpack", str(archive), str(box.out / "by-command"))
    return box.attempt(archive.name, calls)


def verified(archive: Path, altered: bool) -> list[str]:
    """The problems that verifying finds; there must be some where a byte was altered."""
    problems = salgen.verify(archive, samples=1)
    if altered and not problems:
        raise BrokenError("an altered archive was verified")
    return problems


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


@pytest.mark.parametrize(("form", "large"), [(".tar", 500), (".tar.gz", 400), (".zip", 500)])
def test_mutated_archives(request: pytest.FixtureRequest, box: Box, form: str, large: int) -> None:
    def trial(rng: Random) -> str:
        box.fresh()
        return tried(box, f"tiny{form}", mutated_bytes((box.inside / f"tiny{form}").read_bytes(), rng), rng)

    run(request, f"archives {form}", large, trial)


def test_mutated_digest_files(request: pytest.FixtureRequest, box: Box) -> None:
    def trial(rng: Random) -> str:
        box.fresh()
        name = f"tiny{rng.choice(('.tar', '.tar.gz', '.zip'))}.sha256"
        return tried(box, name, mutated_bytes((box.inside / name).read_bytes(), rng), rng)

    run(request, "digests of archives", 200, trial)


def test_mutated_tar_headers(request: pytest.FixtureRequest, box: Box) -> None:
    """Headers with another entry and a checksum that is right."""

    def trial(rng: Random) -> str:
        box.fresh()
        data = bytearray((box.inside / "tiny.tar").read_bytes())
        places = [place for place in range(0, len(data), BLOCK) if data[place + 257 : place + 262] == b"ustar"]
        place = rng.choice(places)
        header = bytearray(mutated_bytes(bytes(data[place : place + BLOCK]), rng)[:BLOCK].ljust(BLOCK, b"\0"))
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        data[place : place + BLOCK] = header
        return tried(box, "tiny.tar", bytes(data), rng)

    run(request, "headers of .tar", 300, trial)


def test_strange_members(request: pytest.FixtureRequest, box: Box) -> None:
    """Archives that other tools write, with names, kinds, sizes and repetitions that no data set has."""

    def trial(rng: Random) -> str:
        box.fresh()
        write, name = rng.choice(((strange_tar, "tiny.tar"), (strange_zip, "tiny.zip")))
        return tried(box, name, write(box.inside / name, rng), rng)

    run(request, "members of archives", 300, trial)


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


def strange_tar(path: Path, rng: Random) -> bytes:
    buffer = io.BytesIO()
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(path) as source, tarfile.open(fileobj=buffer, mode="w", format=form) as target:
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


def strange_zip(path: Path, rng: Random) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(buffer, "w") as target:
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


def test_the_originals_are_sound(shipped: Path, tmp_path: Path) -> None:
    """Or nothing that is refused here would mean anything."""
    for form in (".tar", ".tar.gz", ".zip"):
        assert salgen.verify(shipped / f"tiny{form}", samples=2) == []
        assert salgen.unpack(shipped / f"tiny{form}", tmp_path / form[1:]).is_dir()
