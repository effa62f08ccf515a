"""Unpacking an archive, all of it within one folder, checked, or nothing; and verifying one."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from salgen.datasets.archives.archive_formats import (
    DIGEST,
    MOST_BYTES,
    MOST_MEMBERS,
    digest_line,
    expanded,
    form_of,
    is_archive,
    members,
)
from salgen.datasets.format.checksums import file_problems
from salgen.datasets.format.output_folder import workplace
from salgen.errors import SalgenError
from salgen.files import cache_folder, sha256_of
from salgen.progress import progress

CACHED = "archives"


def unpack(
    archive: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    max_members: int = MOST_MEMBERS,
    max_bytes: int = MOST_BYTES,
) -> Path:
    """Unpack an archive that `salgen publish` wrote into a folder, and check it against its checksums.

    Parameters
    ----------
    archive
        A ``.tar``, ``.tar.gz`` or ``.zip``.
    folder
        The new folder of its data set; must not exist, or be empty. The archive names it if None.
    max_members, max_bytes
        Limits on the number of files and folders in the archive, and on their bytes altogether.

    Raises
    ------
    SalgenError
        If the archive cannot be read, is not safe, or is altered. Then nothing is left behind.
    """
    source = Path(archive)
    if not source.is_file():
        raise SalgenError(f"{source} is not a file: give an archive that 'salgen publish' wrote")
    form_of(source)
    target = Path(_root(source) if folder is None else folder)
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise SalgenError(f"{target} is not a folder: choose one that does not exist yet")
    if target.is_dir() and any(target.iterdir()):
        raise SalgenError(f"{target} is not empty: choose a folder that does not exist yet")
    if not target.absolute().parent.is_dir():
        raise SalgenError(f"{target.absolute().parent} is not a folder: create it, or choose another place")
    with workplace(target) as place, named(source):
        extract(source, place / "content", max_members, max_bytes)
        if problems := file_problems(place / "content"):
            raise SalgenError(problems[0])
        if target.exists():
            target.rmdir()
        (place / "content").rename(target)
    return target


def unpacked(archive: Path) -> Path:
    """The folder of a data set or run: of an archive in the user's cache, unpacked there the first time."""
    if not is_archive(archive):
        return archive
    place = cache_folder() / CACHED / sha256_of(archive)
    folder = place / _root(archive)
    if not folder.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        unpack(archive, folder)
    return folder


def _root(archive: Path) -> str:
    """The name of the folder within an archive."""
    with named(archive), closing(members(archive)) as listed:
        return next(listed)[0].partition("/")[0]


def extract(archive: Path, folder: Path, max_members: int = MOST_MEMBERS, max_bytes: int = MOST_BYTES) -> None:
    """Write the members of an archive into a new folder, without the folder that holds them there.

    One that is beyond the limits is refused by its header.
    """
    size, total = archive.stat().st_size, 0
    most = min(expanded(size), max_bytes)
    folder.mkdir()
    with progress(f"unpacking {archive.name}", size, "bytes") as advance, closing(members(archive)) as listed:
        for number, (name, announced, content) in enumerate(listed, start=1):
            total += announced
            if number > max_members:
                raise SalgenError(f"the archive has more than {max_members} members")
            if total > most:
                raise SalgenError(f"with member {name!r} the archive holds more than {most} bytes")
            path = folder / name.partition("/")[2]
            if content is not None:  # a folder without files is none of a data set
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with open(path, "xb") as handle:
                        handle.writelines(content)
                except (FileExistsError, NotADirectoryError, IsADirectoryError):
                    raise SalgenError(f"member {name!r} has the name of another one, or nearly so") from None
            advance(announced)


def archive_problems(archive: Path, check: Callable[[Path], list[str]]) -> list[str]:
    """A line for each problem of the digest beside an archive, and with `check` of the folder that it holds."""
    problems, beside = [], archive.with_name(f"{archive.name}{DIGEST}")
    if beside.exists() and beside.read_bytes() != digest_line(archive):
        problems = [f"{beside.name}: is not the SHA-256 of {archive.name}: one of the two was altered"]
    with TemporaryDirectory(prefix="salgen-verify-") as place:
        content = Path(place) / "content"
        try:
            extract(archive, content)
        except SalgenError as error:
            return [*problems, f"{archive.name}: {error}"]
        except OSError as error:
            why = f"({error.strerror}): set TMPDIR to a folder with room"
            raise SalgenError(f"{archive} cannot be unpacked to be checked {why}") from None
        # A problem is told in the archive's terms, without the folder that it was unpacked to.
        found = [problem.replace(f"{content}{os.sep}", "") for problem in check(content)]
        return problems + [problem.replace(str(content), archive.name) for problem in found]


@contextmanager
def named(archive: Path) -> Iterator[None]:
    """Put the archive's name before the message of every SalgenError."""
    try:
        yield
    except SalgenError as error:
        raise SalgenError(f"{archive}: {error}") from None
