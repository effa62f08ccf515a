"""Publishing a data set as an archive: the same bytes for the same data set, whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from salgen.datasets.archives.files import DIGEST, TAR_GZ, USUAL, entries_of, form_of, packed
from salgen.datasets.archives.members import Entry
from salgen.datasets.archives.workplace import workplace
from salgen.datasets.manifest import read_manifest
from salgen.datasets.publication import stated
from salgen.datasets.publishing import published
from salgen.datasets.verifying import verify
from salgen.errors import SalgenError
from salgen.files import sync_folder, write_text
from salgen.progress import Advance, progress

RUN = "run.json"
NAMED = 3  # problems in a message


def publish(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    licence: str | None,
    date: str | None,
    may_redistribute: bool = False,
    creators: Sequence[str] = (),
    url: str | None = None,
) -> Path:
    """Write a data set into an archive that others can cite, check and load.

    Parameters
    ----------
    path
        A complete data set folder.
    out
        The archive: ``.tar``, ``.tar.gz`` or ``.zip``. Its digest is written beside it, as `<out>.sha256`.
    licence
        The licence under which you publish: as SPDX names it (``CC-BY-4.0``), a URL, or ``LicenseRef-NAME``.
    date
        The day of publication, ``YYYY-MM-DD``; no clock is looked at.
    may_redistribute
        That you may pass on the pixels, where the sources' licences are not known to allow it. Otherwise such
        data are published as recipes and masks.
    creators, url
        Who made the data, and where they will be found, if you want to say so.

    Returns
    -------
    The archive.

    Raises
    ------
    SalgenError
        If licence or date is missing or malformed, the data set is not complete and sound, `out` is there already,
        or the disk is full.
    """
    folder, target = Path(path), Path(out)
    _check_target(target)
    stated(licence, date, creators, url)
    _check_folder(folder)
    if folder.resolve() in target.resolve().parents:
        raise SalgenError(f"{target} lies within the data set: choose a place outside {folder}")
    root = read_manifest(folder).spec.generator
    statements: dict[str, Any] = {"licence": licence, "date": date, "creators": creators, "url": url}
    with published(folder, **statements, may_redistribute=may_redistribute) as files:
        return archive(files, target, root)


def archive(files: Mapping[str, Path | bytes], out: Path, root: str) -> Path:
    """Write files into an archive, and its digest beside it.

    Parameters
    ----------
    files
        Relative name, with ``/``, to a file on disk or the bytes.
    out
        The archive; its suffix says in which form it is written.
    root
        The folder within the archive that holds everything.

    Raises
    ------
    SalgenError
        If `out` is there already, a name is not one that can be unpacked everywhere, or the disk is full.
    """
    form = _check_target(out)
    entries = entries_of(files, root)
    with workplace(out) as place:
        written = place / out.name
        digest = _write(form, entries, written, sum(entry.size for entry in entries))
        write_text(place / f"{out.name}{DIGEST}", f"{digest}  {out.name}\n")
        _put(written, out)
    return out


def _write(form: str, entries: list[Entry], path: Path, total: int) -> str:
    """Write an archive, and say its SHA-256."""
    digest, written = hashlib.sha256(), 0
    with open(path, "xb") as handle, progress("publishing", total, "bytes") as advance:
        for piece in packed(form, _counted(entries, advance)):
            digest.update(piece)
            written += handle.write(piece)
        handle.flush()
        os.fsync(handle.fileno())
    if form == TAR_GZ and total > USUAL.expanded(written) - (1 << 16):
        raise SalgenError(f"{path.name} would be too small beside what it holds to be told from a bomb: choose .tar")
    return digest.hexdigest()


def _counted(entries: list[Entry], advance: Advance) -> Iterator[Entry]:
    """The entries, each told to `advance` once it is written."""
    for entry in entries:
        yield entry
        advance(entry.size)


def _put(written: Path, out: Path) -> None:
    """Give archive and digest their names: the archive last, so that none is there without its digest."""
    _check_target(out)
    beside = out.with_name(f"{out.name}{DIGEST}")
    try:
        written.with_name(beside.name).replace(beside)
        written.replace(out)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(out.parent)


def _check_target(out: Path) -> str:
    """The form of an archive that can be written."""
    form = form_of(out)
    if out.exists() or out.is_symlink():
        raise SalgenError(f"{out} is there already: remove it or choose another name")
    if not out.parent.is_dir():
        raise SalgenError(f"{out.parent} is not a folder: make it, or choose another place for {out.name}")
    return form


def _check_folder(folder: Path) -> None:
    """Only a complete and sound data set is published."""
    if (folder / RUN).is_file():
        raise SalgenError(f"{folder} is a run: runs cannot be published yet; give the folder of a data set")
    read_manifest(folder)
    problems = verify(folder, samples=0)
    if problems:
        more = f" and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
        raise SalgenError(f"{folder} cannot be published: {'; '.join(problems[:NAMED])}{more}")
