"""Unpacking an archive, all of it within one folder, checked, or nothing; and verifying one."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from salgen.datasets.archives import archive_formats
from salgen.datasets.format.checksums import file_problems
from salgen.datasets.format.output_folder import forget, workplace
from salgen.errors import SalgenError
from salgen.files import cache_folder, sha256_of, sync_folder
from salgen.progress import progress

CACHED = "archives"
_sound: set[Path] = set()  # folders in the cache whose checksums this process has compared


def unpack(
    archive: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    max_members: int = archive_formats.USUAL.members,
    max_bytes: int = archive_formats.USUAL.size,
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
    archive_formats.form_of(source)
    target = Path(_root(source) if folder is None else folder)
    _check_target(target)
    with workplace(target) as place:
        content = place / "content"
        with named(source):
            extract(source, content, archive_formats.Limits(max_members, size=max_bytes))
            if problems := file_problems(content):
                raise SalgenError(problems[0])
        for path in (*filter(Path.is_dir, content.rglob("*")), content):
            sync_folder(path)
        _check_target(target)
        if target.exists():
            target.rmdir()
        content.rename(target)
        try:
            sync_folder(target.absolute().parent)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
    return target


def unpacked(archive: Path) -> Path:
    """The folder of a data set or run: of an archive in the user's cache, unpacked there the first time."""
    if not archive_formats.is_archive(archive):
        return archive
    place = cache_folder() / CACHED / sha256_of(archive)
    folder = place / _root(archive)
    if folder.is_dir() and folder not in _sound and file_problems(folder):
        shutil.rmtree(folder)
    if not folder.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        unpack(archive, folder)
    _sound.add(folder)
    return folder


def _root(archive: Path) -> str:
    """The name of the folder within an archive."""
    with named(archive), closing(archive_formats.members(archive)) as listed:
        return next(listed).name.partition("/")[0]


def extract(
    archive: Path, folder: Path, limits: archive_formats.Limits = archive_formats.USUAL, *, durable: bool = True
) -> None:
    """Write the members of an archive into a new folder, without the folder that holds them there."""
    folder.mkdir()
    with progress(f"unpacking {archive.name}", archive.stat().st_size, "bytes") as advance:
        for member in archive_formats.members(archive, limits, advance):
            path = folder / member.name.partition("/")[2]
            if not member.folder:  # a folder without files is none of a data set
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    _write(member, path, durable)
                except (FileExistsError, NotADirectoryError, IsADirectoryError):
                    name = archive_formats.quoted(member.name)
                    raise SalgenError(f"member {name} has the name of another one, perhaps but for its case") from None


def archive_problems(archive: Path, check: Callable[[Path], list[str]]) -> list[str]:
    """A line for each problem of the digest beside an archive, and with `check` of the folder that it holds."""
    problems = _digest_problems(archive)
    with TemporaryDirectory(prefix="salgen-verify-") as place:
        content = Path(place) / "content"
        try:
            extract(archive, content, durable=False)
        except SalgenError as error:
            return [*problems, f"{archive.name}: {error}"]
        except OSError as error:
            raise SalgenError(
                f"{archive} cannot be unpacked to be checked ({error.strerror}): set TMPDIR to a folder with room"
            ) from None
        # A problem is told in the archive's terms, without the folder that it was unpacked to.
        return problems + [
            problem.replace(f"{content}{os.sep}", "").replace(str(content), archive.name) for problem in check(content)
        ]


def _digest_problems(archive: Path) -> list[str]:
    beside = archive.with_name(f"{archive.name}{archive_formats.DIGEST}")
    if not beside.exists() or beside.read_bytes() == archive_formats.digest_line(archive):
        return []
    return [f"{beside.name}: is not the SHA-256 of {archive.name}: one of the two was altered"]


@contextmanager
def named(archive: Path) -> Iterator[None]:
    """Put the archive's name before the message of every SalgenError."""
    try:
        yield
    except SalgenError as error:
        raise SalgenError(f"{archive}: {error}") from None


def _write(member: archive_formats.Member, path: Path, durable: bool) -> None:
    with open(path, "xb") as handle:
        handle.writelines(member.pieces)
        if durable:
            handle.flush()
            os.fsync(handle.fileno())


def _check_target(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise SalgenError(f"{folder} is not a folder: choose one that does not exist yet")
    if folder.is_dir() and any(folder.iterdir()):
        forget(folder)
        raise SalgenError(f"{folder} is not empty: choose a folder that does not exist yet")
    if not folder.absolute().parent.is_dir():
        raise SalgenError(f"{folder.absolute().parent} is not a folder: create it, or choose another place")
