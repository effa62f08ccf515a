"""Publishing: a data set or a run as an archive, and as a draft or a repository on a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from salgen.datasets.archives.writing import archive, check_target
from salgen.datasets.metadata.publication_metadata import stated
from salgen.datasets.metadata.release import Release
from salgen.datasets.publishing.dataset_release import published
from salgen.datasets.publishing.hub import SCHEME as HUB
from salgen.datasets.publishing.hub import push, repository
from salgen.datasets.publishing.zenodo import SCHEME as ZENODO
from salgen.datasets.publishing.zenodo import deposit
from salgen.datasets.publishing.zenodo import server as zenodo_server
from salgen.errors import SalgenError
from salgen.evaluation.publishing.run_release import published_run
from salgen.evaluation.runs.artifacts.run_record import RECORD


def publish(path: str | os.PathLike[str], out: str | os.PathLike[str], **statements: Any) -> Path:
    """Write a data set or a run into an archive that others can cite, check and load.

    Parameters
    ----------
    path
        The folder of a complete data set, or of a finished run.
    out
        The archive: ``.tar``, ``.tar.gz`` or ``.zip``. Its digest is written beside it, as `<out>.sha256`.
    statements
        `licence`: the licence under which you publish, as SPDX names it (``CC-BY-4.0``), a URL, or
        ``LicenseRef-NAME``. `date`: the day of publication, ``YYYY-MM-DD``; no clock is looked at. `creators`,
        `url`: who made it, and where it will be found, if you want to say so. `may_redistribute`: that you may
        pass on the pixels, where the sources' licences are not known to allow it; otherwise such data are
        published as recipes and masks.

    Returns
    -------
    The archive.

    Raises
    ------
    SalgenError
        If licence or date is missing or malformed, the data set is not complete and sound, `out` is there already,
        or the disk is full.
    """
    target = Path(out)
    check_target(target)
    _check_place(Path(path), target)
    with edition(path, **statements) as found:
        return archive(found.files, target, found.root)


def upload(
    path: str | os.PathLike[str],
    to: str,
    out: str | os.PathLike[str] | None = None,
    *,
    token_file: str | os.PathLike[str] | None = None,
    **statements: Any,
) -> str:
    """Publish on a server: as a draft on Zenodo, or as a dataset repository on a Hugging Face hub.

    Parameters
    ----------
    path, statements
        As for :func:`publish`.
    to
        ``zenodo:`` (the sandbox), ``zenodo:https://zenodo.org`` or ``hf://ORG/NAME``.
    out
        The archive that is written first and uploaded to Zenodo. One that is there already is uploaded if it is
        what would be written. A hub gets the files themselves, so there it must be None.
    token_file
        A file with the token; otherwise it is that of the environment.

    Returns
    -------
    The address of what was uploaded.

    Raises
    ------
    SalgenError
        As :func:`publish`; if `to` is of no known kind, there is no token, or the server refuses or does not answer.
    """
    if to.startswith(HUB):
        if out is not None:
            raise SalgenError(f"{HUB} takes the files themselves, and no archive is written: leave out {out}")
        at_hub = repository(to, token_file)
        with edition(path, **statements) as found:
            return push(found, at_hub)
    if not to.startswith(ZENODO):
        raise SalgenError(
            f"--to {to.partition(':')[0]!r} is not known: give {ZENODO} (Zenodo's sandbox) or "
            f"{ZENODO}https://zenodo.org, or {HUB}ORG/NAME (Hugging Face)"
        )
    if out is None:
        raise SalgenError(f"{to} takes an archive: say where to write it, as OUT")
    at = zenodo_server(to, token_file)
    _check_place(Path(path), Path(out))
    with edition(path, **statements) as found:
        return deposit(found, out, at)[1]


def edition(
    path: str | os.PathLike[str],
    *,
    licence: str | None,
    date: str | None,
    creators: Sequence[str] = (),
    url: str | None = None,
    may_redistribute: bool = False,
) -> AbstractContextManager[Release]:
    """What is published of a folder, checked; files that had to be written are there within the ``with`` block."""
    publication = stated(licence, date, creators, url)
    folder = Path(path)
    if not folder.is_dir():
        fault = "is not a folder" if folder.exists() else "does not exist"
        raise SalgenError(f"{folder} {fault}: give the folder of a data set or of a run")
    make = published_run if (folder / RECORD).is_file() else published
    return make(folder, publication, may_redistribute=may_redistribute)


def _check_place(folder: Path, target: Path) -> None:
    if folder.resolve() in target.resolve().parents:
        raise SalgenError(f"{target} lies within what is published: choose a place outside {folder}")
