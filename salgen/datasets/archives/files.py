"""Archives in three forms behind one interface: the bytes to write, and the members to read, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from salgen.datasets.archives import gzip_form, tar_form, zip_form
from salgen.datasets.archives.members import Entry, Member, Readable, shown
from salgen.datasets.archives.names import Names
from salgen.errors import SalgenError

DIGEST = ".sha256"  # what the name of the file beside an archive ends with
TAR, TAR_GZ, ZIP = SUFFIXES = (".tar", ".tar.gz", ".zip")
SMALL = 1 << 20  # bytes that any archive may expand to
DESCRIBING = ("SHA256SUMS", "salgen.json")  # read whole
LARGEST_DESCRIPTION = 1 << 26


@dataclass(frozen=True)
class Limits:
    """How much an archive may hold.

    Attributes
    ----------
    members
        Files and folders.
    expansion
        How many times its own size a compressed archive may expand to.
    size
        Bytes of all files together.
    """

    members: int = 100_000
    expansion: int = 20
    size: int = 1 << 40

    def expanded(self, size: int) -> int:
        """How many bytes an archive of `size` bytes may expand to."""
        return min(max(size * self.expansion, SMALL), self.size)


USUAL = Limits()


def form_of(path: Path) -> str:
    """The suffix that says how an archive is written.

    Raises
    ------
    SalgenError
        If it is none of those known.
    """
    for suffix in (TAR_GZ, TAR, ZIP):
        if path.name.endswith(suffix) and path.name != suffix:
            return suffix
    raise SalgenError(f"{path} has no suffix of an archive: give it one of {', '.join(SUFFIXES)}")


def is_archive(path: Path) -> bool:
    """Whether this is a file with the suffix of an archive."""
    return path.is_file() and path.name.endswith(SUFFIXES)


def entries_of(files: Mapping[str, Path | bytes], root: str) -> list[Entry]:
    """What goes into an archive, in the order in which it does.

    Raises
    ------
    SalgenError
        If a name is not one that can be unpacked everywhere.
    """
    names, entries = Names(), []
    for name, content in sorted(files.items()):
        names.add(f"{root}/{name}", folder=False)
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        entries.append(Entry(f"{root}/{name}", content, size))
    return entries


def packed(form: str, entries: Iterable[Entry]) -> Iterator[bytes]:
    """The bytes of an archive, in pieces: the same for the same entries."""
    if form == ZIP:
        return zip_form.packed(entries)
    return tar_form.packed(entries) if form == TAR else gzip_form.compressed(tar_form.packed(entries))


@contextmanager
def expanded(path: Path, limits: Limits = USUAL, advance: Callable[[int], None] | None = None) -> Iterator[Readable]:
    """An archive's bytes without compression, up to what `limits` allow; `advance` hears how many were read."""
    with open(path, "rb") as handle:
        source = _Heard(handle, advance) if advance else handle
        yield gzip_form.Expanded(source, limits.expanded(path.stat().st_size)) if form_of(path) == TAR_GZ else source


def members(
    path: Path, limits: Limits = USUAL, advance: Callable[[int], None] | None = None
) -> Generator[Member, None, None]:
    """The members of an archive, their names checked, in order.

    Nothing is read ahead: what is out of bounds is refused when it is met.

    Raises
    ------
    SalgenError
        If the archive cannot be read, a name is not safe, or there is more than `limits` allow.
        The message names the member; the archive is for the caller to name.
    """
    names, total = Names(), 0
    with expanded(path, limits, advance) as source:
        found = zip_form.members(source) if form_of(path) == ZIP else tar_form.members(source)  # type: ignore[arg-type]
        with closing(found):  # type: ignore[type-var]
            for number, member in enumerate(found, start=1):
                names.add(member.name, folder=member.folder)
                total += member.size
                _check_bounds(member, number, total, limits)
                yield member
    if not names.root:
        raise SalgenError("is empty: it has no members")


def _check_bounds(member: Member, number: int, total: int, limits: Limits) -> None:
    if number > limits.members:
        raise SalgenError(f"has more than {limits.members} members")
    if total > limits.size:
        raise SalgenError(f"member {shown(member.name)} brings what it holds to more than {limits.size} bytes")
    if member.name.rpartition("/")[2] in DESCRIBING and member.size > LARGEST_DESCRIPTION:
        raise SalgenError(f"member {shown(member.name)} has more than {LARGEST_DESCRIPTION} bytes")


class _Heard:
    """A file that tells how much of it was read."""

    def __init__(self, handle: BinaryIO, advance: Callable[[int], None]) -> None:
        self._handle, self._advance = handle, advance

    def read(self, count: int, /) -> bytes:
        """Up to `count` bytes."""
        data = self._handle.read(count)
        self._advance(len(data))
        return data

    def seek(self, place: int, whence: int = 0, /) -> int:
        """Go to a place."""
        return self._handle.seek(place, whence)

    def tell(self) -> int:
        """The place."""
        return self._handle.tell()
