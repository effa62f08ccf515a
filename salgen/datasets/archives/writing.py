"""Writing an archive: the same bytes for the same files, whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from salgen.datasets.archives.archive_formats import DIGEST, TAR_GZ, USUAL, entries_of, form_of, packed
from salgen.datasets.archives.members import Entry
from salgen.datasets.archives.workplace import forget, workplace
from salgen.datasets.metadata.release import Files, Release
from salgen.errors import SalgenError
from salgen.files import sha256_of, sync_folder, write_bytes
from salgen.progress import Advance, progress


def archive(files: Files, out: Path, root: str) -> Path:
    """Write files into an archive, and its digest beside it.

    Parameters
    ----------
    files
        Relative name, with ``/``, to a file on disk or the bytes.
    out
        The archive; its suffix says its format.
    root
        The folder within the archive that holds everything.
    """
    form = check_target(out)
    entries = entries_of(files, root)
    with workplace(out) as place:
        written = place / out.name
        digest = _write(form, entries, written, sum(entry.size for entry in entries))
        write_bytes(place / f"{out.name}{DIGEST}", _digest_line(digest, out))
        _move_into_place(written, out)
    return out


def check_archive(out: Path, release: Release) -> None:
    """Check that an existing archive is the one that would be written, with its digest beside it."""
    digest, entries = hashlib.sha256(), entries_of(release.files, release.root)
    with progress(f"comparing {out.name}", sum(entry.size for entry in entries), "bytes") as advance:
        for piece in packed(form_of(out), _counted(entries, advance)):
            digest.update(piece)
    if sha256_of(out) != digest.hexdigest():
        raise SalgenError(f"{out} already exists and is not what you publish now, or was altered: remove it")
    beside = out.with_name(f"{out.name}{DIGEST}")
    if not beside.is_file() or beside.read_bytes() != _digest_line(digest.hexdigest(), out):
        raise SalgenError(f"{out} already exists, but {beside.name} beside it is missing or was altered: remove it")


def _digest_line(digest: str, out: Path) -> bytes:
    return f"{digest}  {out.name}\n".encode()


def _write(form: str, entries: list[Entry], path: Path, total: int) -> str:
    """Write an archive and return its SHA-256."""
    digest, written = hashlib.sha256(), 0
    with open(path, "xb") as handle, progress("publishing", total, "bytes") as advance:
        for piece in packed(form, _counted(entries, advance)):
            digest.update(piece)
            written += handle.write(piece)
        handle.flush()
        os.fsync(handle.fileno())
    if form == TAR_GZ and total > USUAL.expanded(written) - (1 << 16):
        raise SalgenError(
            f"{path.name} would expand to more than {USUAL.expansion} times its size, which salgen does not unpack: "
            "choose .tar"
        )
    return digest.hexdigest()


def _counted(entries: list[Entry], advance: Advance) -> Iterator[Entry]:
    """The entries, each reported to `advance` once it is written."""
    for entry in entries:
        yield entry
        advance(entry.size)


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


def check_target(out: Path) -> str:
    """Check that an archive can be written, and return its format."""
    form = form_of(out)
    if out.exists() or out.is_symlink():
        forget(out)
        raise SalgenError(f"{out} already exists: remove it or choose another name")
    if not out.parent.is_dir():
        raise SalgenError(f"{out.parent} is not a folder: create it, or choose another place for {out.name}")
    return form
