"""Archives in three formats: how they are named, and their members read one after another, within limits."""

import gzip
import stat
import tarfile
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from salgen.errors import SalgenError, readable
from salgen.files import sha256_of

DIGEST = ".sha256"  # suffix of the file with an archive's SHA-256
TAR, TAR_GZ, ZIP = SUFFIXES = (".tar", ".tar.gz", ".zip")
PIECE = 1 << 20  # bytes held in memory at a time
SMALL = 1 << 20  # bytes that any archive may expand to
DAMAGED = "the archive was truncated or altered, or is another file"


@dataclass(frozen=True)
class Limits:
    """Limits on what an archive may hold."""

    members: int = 100_000  # files and folders
    expansion: int = 20  # times the size of a compressed archive
    size: int = 1 << 40  # bytes of all files together

    def expanded(self, size: int) -> int:
        """Largest number of bytes that an archive of `size` bytes may expand to."""
        return min(max(size * self.expansion, SMALL), self.size)


USUAL = Limits()


@dataclass(frozen=True)
class Member:
    """A file or folder that an archive holds."""

    name: str  # with "/" between its parts
    size: int  # bytes that its header announces
    folder: bool
    pieces: Iterator[bytes]  # the content, to be read before the next member


def form_of(path: Path) -> str:
    """The suffix of an archive, which says its format."""
    for suffix in SUFFIXES:
        if path.name.endswith(suffix) and path.name != suffix:
            return suffix
    raise SalgenError(f"{path} is not named like an archive: end its name in one of {', '.join(SUFFIXES)}")


def is_archive(path: Path) -> bool:
    """True if this is a file with the suffix of an archive."""
    return path.is_file() and path.name.endswith(SUFFIXES)


def digest_line(archive: Path) -> bytes:
    """The content of the file beside an archive, as `sha256sum` writes it."""
    return f"{sha256_of(archive)}  {archive.name}\n".encode()


def quoted(name: str) -> str:
    """A name in quotes, without control characters and not too long."""
    return repr(name if len(name) <= 80 else f"{name[:80]}...")


def members(
    path: Path, limits: Limits = USUAL, advance: Callable[[int], None] = lambda count: None
) -> Generator[Member, None, None]:
    """Read the members of an archive, all of one folder; one that is beyond the limits is refused by its header."""
    form, most = form_of(path), limits.expanded(path.stat().st_size)
    root, total, place = "", 0, 0
    with open(path, "rb") as file, readable(DAMAGED):
        source: Any = gzip.GzipFile(fileobj=file) if form == TAR_GZ else file
        with closing((_zip_members if form == ZIP else _tar_members)(source)) as unchecked:
            for number, member in enumerate(unchecked, start=1):
                parts = member.name.split("/")
                root, total = root or parts[0], total + member.size
                if fault := _fault(member, root):
                    raise SalgenError(f"member {quoted(member.name)} {fault}")
                if number > limits.members:
                    raise SalgenError(f"the archive has more than {limits.members} members")
                if total > most:
                    raise SalgenError(f"with member {quoted(member.name)} the archive holds more than {most} bytes")
                yield member
                advance(file.tell() - place)
                place = file.tell()
    if not root:
        raise SalgenError("the archive is empty")


def _fault(member: Member, root: str) -> str:
    """The reason why a member is not read, or "" if it may be."""
    parts = member.name.split("/")
    if not member.name.isprintable() or {"", ".", ".."}.intersection(parts) or {"\\", ":"}.intersection(member.name):
        return "has a name that could lead out of the folder"
    if parts[0] != root or (len(parts) == 1 and not member.folder):
        return f"does not lie in the folder {quoted(root)}: all members must lie in one folder"
    return ""


def _tar_members(source: Any) -> Generator[Member, None, None]:
    with tarfile.open(fileobj=source, mode="r|", bufsize=PIECE) as archive:
        for info in archive:
            _check_kind(info.name, (info.isreg() or info.isdir()) and not info.issparse())
            yield Member(info.name, info.size, info.isdir(), _pieces(archive.extractfile(info)))


def _zip_members(source: Any) -> Generator[Member, None, None]:
    with zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            _check_kind(info.filename, stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG, stat.S_IFDIR))
            with archive.open(info) as file:
                yield Member(info.filename.removesuffix("/"), info.file_size, info.is_dir(), _pieces(file))


def _check_kind(name: str, usual: bool) -> None:
    if not usual:
        raise SalgenError(f"member {quoted(name)} is a link, a device or the like: only files and folders are read")


def _pieces(file: IO[bytes] | None) -> Iterator[bytes]:
    with readable(DAMAGED):
        while file and (piece := file.read(PIECE)):
            yield piece
