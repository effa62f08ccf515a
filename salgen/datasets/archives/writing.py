"""Writing an archive: the same bytes for the same files, whole or not at all."""

import gzip
import io
import shutil
import stat
import tarfile
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from salgen.datasets.archives.archive_formats import DIGEST, EXPANSION, TAR_GZ, ZIP, digest_line, expanded, form_of
from salgen.datasets.format.output_folder import workplace
from salgen.datasets.metadata.publication_metadata import Files, Release
from salgen.errors import SalgenError
from salgen.files import write_bytes
from salgen.progress import progress


def archive(files: Files, out: Path, root: str) -> Path:
    """Write files, by relative name with ``/``, into an archive whose folder `root` holds them; and its digest."""
    check_target(out)
    beside = out.with_name(f"{out.name}{DIGEST}")
    with workplace(out) as place:
        pack(files, place / out.name, root)
        write_bytes(place / beside.name, digest_line(place / out.name))
        (place / beside.name).replace(beside)
        (place / out.name).replace(out)  # the last, so that it never exists without its digest
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
    sizes = {name: len(it) if isinstance(it, bytes) else it.stat().st_size for name, it in sorted(files.items())}
    form, total = form_of(path), sum(sizes.values())
    with ExitStack() as stack:
        target: Any = stack.enter_context(open(path, "xb"))
        advance = stack.enter_context(progress("publishing", total, "bytes"))
        if form == ZIP:
            target = stack.enter_context(zipfile.ZipFile(target, "w"))
        else:
            if form == TAR_GZ:
                target = stack.enter_context(gzip.GzipFile("", "wb", 6, target, mtime=0))
            target = stack.enter_context(tarfile.open(fileobj=target, mode="w|", format=tarfile.USTAR_FORMAT))
        for name, size in sizes.items():
            content = files[name]
            with io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as source:
                _add(target, f"{root}/{name}", size, source)
            advance(size)
    if form == TAR_GZ and total > expanded(path.stat().st_size) - (1 << 16):
        raise SalgenError(f"{path.name} would expand to more than {EXPANSION} times its size: choose .tar")


def _add(target: Any, name: str, size: int, source: Any) -> None:
    """Add a file to a tar or zip."""
    if isinstance(target, zipfile.ZipFile):
        info = zipfile.ZipInfo(name)  # dated 1980-01-01
        info.create_system, info.external_attr, info.file_size = 3, (stat.S_IFREG | 0o644) << 16, size
        with target.open(info, "w") as member:
            shutil.copyfileobj(source, member)
        return
    header = tarfile.TarInfo(name)
    header.size = size
    try:
        target.addfile(header, source)
    except ValueError as error:  # too long or too large for a tar
        raise SalgenError(f"member {name!r}: {error}: give OUT the suffix .zip") from None


def check_target(out: Path) -> None:
    """Check that an archive can be written."""
    form_of(out)
    if out.exists() or out.is_symlink():
        raise SalgenError(f"{out} already exists: remove it or choose another name")
    if not out.parent.is_dir():
        raise SalgenError(f"{out.parent} is not a folder: create it, or choose another place for {out.name}")
