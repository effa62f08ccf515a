"""Archives in three formats: how they are named, and their members read one after another."""

import stat
import tarfile
import zipfile
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import IO
from salgen.errors import SalgenError, readable
from salgen.files import sha256_of

DIGEST = ".sha256"  # suffix of the file with an archive's SHA-256
TAR, TAR_GZ, ZIP = SUFFIXES = (".tar", ".tar.gz", ".zip")
MOST_MEMBERS, MOST_BYTES = 100_000, 1 << 40  # files and folders, and bytes of all files together
EXPANSION, SMALL = 20, 1 << 20  # times an archive's size to which it may expand; bytes to which any may
PIECE = 1 << 20  # bytes held in memory at a time
DAMAGED = "the archive was truncated or altered, or is another file"

Member = tuple[str, int, Iterator[bytes] | None]  # name, announced bytes, and content; None for a folder


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


def expanded(size: int) -> int:
    """Largest number of bytes that an archive of `size` bytes may expand to."""
    return max(size * EXPANSION, SMALL)


def members(path: Path) -> Generator[Member, None, None]:
    """The members of an archive, all of one folder; each content is to be read before the next member."""
    form, root = form_of(path), ""
    with readable(DAMAGED):
        for name, size, usual, content in (_in_zip if form == ZIP else _in_tar)(path):
            parts = name.split("/")
            root = root or parts[0]
            if not usual:
                raise SalgenError(f"member {name!r} is a link, a device or the like: only files and folders are read")
            if not name.isprintable() or {"", ".", ".."}.intersection(parts) or {"\\", ":"}.intersection(name):
                raise SalgenError(f"member {name!r} has a name that could lead out of the folder")
            if parts[0] != root or (len(parts) == 1 and content):
                raise SalgenError(f"member {name!r} does not lie in the folder {root!r}: all must lie in one folder")
            yield name, size, content and _pieces(content)
    if not root:
        raise SalgenError("the archive is empty")


def _in_tar(path: Path) -> Iterator[tuple[str, int, bool, IO[bytes] | None]]:
    with tarfile.open(path, "r|gz" if form_of(path) == TAR_GZ else "r|", bufsize=PIECE) as archive:
        for info in archive:
            usual = (info.isreg() or info.isdir()) and not info.issparse()
            yield info.name, info.size, usual, archive.extractfile(info) if info.isreg() else None


def _in_zip(path: Path) -> Iterator[tuple[str, int, bool, IO[bytes] | None]]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            usual = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG, stat.S_IFDIR)
            with archive.open(info) as file:
                yield info.filename.removesuffix("/"), info.file_size, usual, None if info.is_dir() else file


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with readable(DAMAGED):
        yield from iter(partial(file.read, PIECE), b"")
