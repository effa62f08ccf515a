"""Archives in three formats behind one interface: the bytes to write, and the members to read, one after another."""

from __future__ import annotations

import errno
import gzip
import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from salgen.datasets.archives.members import PIECE, Entry, Member, quoted
from salgen.datasets.archives.names import Names
from salgen.datasets.archives.writers import gzip_bytes, tar_bytes, zip_bytes
from salgen.errors import SalgenError, reason

DIGEST = ".sha256"  # suffix of the file with an archive's SHA-256
TAR, TAR_GZ, ZIP = SUFFIXES = (".tar", ".tar.gz", ".zip")
SMALL = 1 << 20  # bytes that any archive may expand to
DESCRIBING = ("SHA256SUMS", "salgen.json")  # read whole
LARGEST_DESCRIPTION = 1 << 26
MOST_FOLDERS = 10_000  # those that paths name included
DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, OverflowError, RuntimeError)


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, count: int, /) -> bytes:
        """Up to `count` bytes; none at the end."""
        ...


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
NO_FILE = "a link, a device or the like: only files and folders are read"


def form_of(path: Path) -> str:
    """The suffix of an archive, which says its format."""
    for suffix in (TAR_GZ, TAR, ZIP):
        if path.name.endswith(suffix) and path.name != suffix:
            return suffix
    raise SalgenError(f"{path} is not named like an archive: end its name in one of {', '.join(SUFFIXES)}")


def is_archive(path: Path) -> bool:
    """True if this is a file with the suffix of an archive."""
    return path.is_file() and path.name.endswith(SUFFIXES)


def entries_of(files: Mapping[str, Path | bytes], root: str) -> list[Entry]:
    """The entries of an archive, in the order in which they are written."""
    names, entries = Names(), []
    for name, content in sorted(files.items()):
        names.add(f"{root}/{name}", folder=False)
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        entries.append(Entry(f"{root}/{name}", content, size))
    return entries


def packed(form: str, entries: Iterable[Entry]) -> Iterator[bytes]:
    """The bytes of an archive, in pieces: the same for the same entries."""
    if form == ZIP:
        return zip_bytes(entries)
    return tar_bytes(entries) if form == TAR else gzip_bytes(tar_bytes(entries))


@contextmanager
def expanded(path: Path, limits: Limits = USUAL, advance: Callable[[int], None] | None = None) -> Iterator[Readable]:
    """An archive's bytes without compression, up to what `limits` allow; `advance` takes the numbers of bytes read."""
    with _File(path, advance) as file:
        yield _Expanded(file, limits.expanded(path.stat().st_size)) if form_of(path) == TAR_GZ else file


def members(
    path: Path, limits: Limits = USUAL, advance: Callable[[int], None] | None = None
) -> Generator[Member, None, None]:
    """The members of an archive, their names checked, in order.

    Nothing is read ahead: a member beyond the limits is refused when it is reached.
    """
    names, total = Names(), 0
    read = _zip_members if form_of(path) == ZIP else _tar_members
    with expanded(path, limits, advance) as source, _read_errors(), closing(read(source)) as unchecked:
        for number, member in enumerate(unchecked, start=1):
            names.add(member.name, folder=member.folder)
            total += member.size
            _check_bounds(member, number, total, limits)
            if names.folders > MOST_FOLDERS:
                raise SalgenError(f"the archive names more than {MOST_FOLDERS:,} folders, and a data set has a few")
            yield member
    if not names.root:
        raise SalgenError("the archive is empty")


def _tar_members(source: Any) -> Generator[Member, None, None]:
    with tarfile.open(fileobj=source, mode="r|", bufsize=PIECE) as archive:
        for info in archive:
            if not (info.isreg() or info.isdir()) or info.issparse():
                raise SalgenError(f"member {quoted(info.name)} is {NO_FILE}")
            yield Member(info.name, info.size, info.isdir(), _pieces(archive.extractfile(info)))


def _zip_members(source: Any) -> Generator[Member, None, None]:
    with zipfile.ZipFile(source) as archive:
        left = source.seek(0, io.SEEK_END)
        for info in archive.infolist():
            left -= info.file_size
            fault = ""
            if info.compress_type != zipfile.ZIP_STORED:
                fault = "is compressed: members of a .zip must be stored uncompressed (zip -0)"
            elif stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                fault = f"is {NO_FILE}"
            elif left < 0:
                fault = "overlaps another member: the archive was altered"
            if fault:
                raise SalgenError(f"member {quoted(info.filename)} {fault}")
            with archive.open(info) as file:
                yield Member(info.filename.removesuffix("/"), info.file_size, info.is_dir(), _pieces(file))


def _pieces(file: IO[bytes] | None) -> Iterator[bytes]:
    with _read_errors():
        while file and (piece := file.read(PIECE)):
            yield piece


@contextmanager
def _read_errors() -> Iterator[None]:
    """Turn errors of the standard library into a SalgenError."""
    try:
        yield
    except (*DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # those are gzip's and zip's
            raise
        raise SalgenError(f"the archive was truncated or altered, or is another file ({reason(error)})") from None


def _check_bounds(member: Member, number: int, total: int, limits: Limits) -> None:
    if number > limits.members:
        raise SalgenError(f"the archive has more than {limits.members} members")
    if total > limits.size:
        raise SalgenError(f"with member {quoted(member.name)} the archive holds more than {limits.size} bytes")
    if member.name.rpartition("/")[2] in DESCRIBING and member.size > LARGEST_DESCRIPTION:
        raise SalgenError(f"member {quoted(member.name)} has more than {LARGEST_DESCRIPTION} bytes")


class _File(io.BufferedReader):
    """A file that reports how many bytes of it are read."""

    def __init__(self, path: Path, advance: Callable[[int], None] | None) -> None:
        super().__init__(io.FileIO(path))
        self._advance = advance

    def read(self, count: int | None = -1, /) -> bytes:
        """Up to `count` bytes."""
        data = super().read(count)
        if self._advance:
            self._advance(len(data))
        return data


class _Expanded:
    """The content of a gzip file, expanded only as far as it is read, and to no more than `most` bytes."""

    def __init__(self, file: _File, most: int) -> None:
        self._file, self._most, self._left = gzip.GzipFile(fileobj=file), most, most

    def read(self, count: int, /) -> bytes:
        """Up to `count` bytes."""
        with _read_errors():
            data = self._file.read(count)
        self._left -= len(data)
        if self._left < 0:
            raise SalgenError(f"the archive expands to more than {self._most} bytes, which no data set does")
        return data
