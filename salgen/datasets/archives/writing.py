"""Writing an archive: the same bytes for the same files, whole or not at all."""

import gzip
import io
import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any
from salgen.datasets.archives.archive_formats import DIGEST, TAR_GZ, USUAL, ZIP, digest_line, form_of, quoted
from salgen.datasets.format.output_folder import forget, workplace
from salgen.datasets.metadata.publication_metadata import Files, Release
from salgen.errors import SalgenError
from salgen.files import sync_folder, write_bytes
from salgen.progress import progress


def archive(files: Files, out: Path, root: str) -> Path:
    """Write files, by relative name with ``/``, into an archive whose folder `root` holds them; and its digest."""
    check_target(out)
    with workplace(out) as place:
        written = place / out.name
        pack(files, written, root)
        write_bytes(place / f"{out.name}{DIGEST}", digest_line(written))
        _move_into_place(written, out)
    return out


def check_archive(out: Path, release: Release) -> None:
    """Check that an existing archive is the one that would be written, with its digest beside it."""
    with workplace(out) as place:
        pack(release.files, place / out.name, release.root)
        line = digest_line(place / out.name)
    if digest_line(out) != line:
        raise SalgenError(f"{out} already exists and is not what you publish now, or was altered: remove it")
    beside = out.with_name(f"{out.name}{DIGEST}")
    if not beside.is_file() or beside.read_bytes() != line:
        raise SalgenError(f"{out} already exists, but {beside.name} beside it is missing or was altered: remove it")


def pack(files: Files, path: Path, root: str) -> None:
    """Write an archive of files in the order of their names, without owners and times."""
    sizes = {
        name: len(content) if isinstance(content, bytes) else content.stat().st_size
        for name, content in sorted(files.items())
    }
    form, total = form_of(path), sum(sizes.values())
    with open(path, "xb") as handle, progress("publishing", total, "bytes") as advance:
        with _opened(handle, form) as add:
            for name, size in sizes.items():
                content = files[name]
                with io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as source:
                    try:
                        add(f"{root}/{name}", size, source)
                    except ValueError as error:  # too long or too large for a tar
                        raise SalgenError(f"member {quoted(name)}: {error}: give OUT the suffix .zip") from None
                advance(size)
        handle.flush()
        os.fsync(handle.fileno())
    if form == TAR_GZ and total > USUAL.expanded(path.stat().st_size) - (1 << 16):
        raise SalgenError(
            f"{path.name} would expand to more than {USUAL.expansion} times its size, which salgen does not unpack: "
            "choose .tar"
        )


@contextmanager
def _opened(handle: IO[bytes], form: str) -> Iterator[Callable[[str, int, IO[bytes]], None]]:
    """A function that adds a member of a name, a size and a content, without owner and time."""
    with ExitStack() as stack:
        if form == ZIP:
            archived = stack.enter_context(zipfile.ZipFile(handle, "w"))

            def add(name: str, size: int, source: IO[bytes]) -> None:
                info = zipfile.ZipInfo(name)  # dated 1980-01-01
                info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
                info.file_size = size
                with archived.open(info, "w") as target:
                    shutil.copyfileobj(source, target)

        else:
            target: Any = handle
            if form == TAR_GZ:
                target = stack.enter_context(gzip.GzipFile("", "wb", 6, handle, mtime=0))
            tar = stack.enter_context(tarfile.open(fileobj=target, mode="w|", format=tarfile.USTAR_FORMAT))

            def add(name: str, size: int, source: IO[bytes]) -> None:
                info = tarfile.TarInfo(name)
                info.size = size
                tar.addfile(info, source)

        yield add


def _move_into_place(written: Path, out: Path) -> None:
    """Move archive and digest into place: the archive last, so that it never exists without its digest."""
    check_target(out)
    beside = out.with_name(f"{out.name}{DIGEST}")
    try:
        written.with_name(beside.name).replace(beside)
        written.replace(out)
        sync_folder(out.parent)
    except BaseException:
        out.unlink(missing_ok=True)
        beside.unlink(missing_ok=True)
        raise


def check_target(out: Path) -> None:
    """Check that an archive can be written."""
    form_of(out)
    if out.exists() or out.is_symlink():
        forget(out)
        raise SalgenError(f"{out} already exists: remove it or choose another name")
    if not out.parent.is_dir():
        raise SalgenError(f"{out.parent} is not a folder: create it, or choose another place for {out.name}")
