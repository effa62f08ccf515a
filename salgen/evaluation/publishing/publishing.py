"""Publishing of a data set or a run as an archive, a Zenodo draft or a Hugging Face repository."""

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from salgen.datasets.archives.writing import archive, check_target
from salgen.datasets.metadata.publication_metadata import Release, stated
from salgen.datasets.publishing.dataset_release import published
from salgen.datasets.publishing.hub import SCHEME as HUB
from salgen.datasets.publishing.hub import push, repository
from salgen.datasets.publishing.zenodo import SCHEME as ZENODO
from salgen.datasets.publishing.zenodo import deposit
from salgen.datasets.publishing.zenodo import server as zenodo_server
from salgen.errors import SalgenError
from salgen.evaluation.publishing.run_release import published_run
from salgen.evaluation.runs.artifacts.run_record import RECORD


def publish(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    license: str | None = None,
    date: str | None = None,
    creators: Sequence[str] = (),
    url: str | None = None,
    may_redistribute: bool = False,
) -> Path:
    """Write a data set or a run into an archive that can be cited, verified and loaded.

    Parameters
    ----------
    path
        The folder of a complete data set, or of a finished run.
    out
        The archive: ``.tar``, ``.tar.gz`` or ``.zip``. Its digest is written beside it, as `<out>.sha256`.
    license
        The license under which you publish: an SPDX name such as ``"CC-BY-4.0"``, a URL, or ``"LicenseRef-NAME"``.
    date
        The day of publication, ``YYYY-MM-DD``. By default today in UTC, or the day of the environment variable
        SOURCE_DATE_EPOCH; it is then printed.
    creators
        The authors' names.
    url
        The address of the publication.
    may_redistribute
        Whether you may pass on pixels whose sources' licenses do not allow it. Otherwise such data are published as
        recipes and masks.

    Returns
    -------
    The archive.

    Raises
    ------
    SalgenError
        If the license is missing, an option is malformed, the data set is incomplete or damaged, `out` exists,
        or the disk is full.
    """
    target = Path(out)
    check_target(target)
    _check_outside(Path(path), target)
    statements: dict[str, Any] = {"license": license, "date": date, "creators": creators, "url": url}
    with open_release(path, may_redistribute=may_redistribute, **statements) as release:
        return archive(release.files, target, release.root)


def push_to_hub(
    path: str | os.PathLike[str],
    repo: str,
    *,
    token_file: str | os.PathLike[str] | None = None,
    license: str | None = None,
    date: str | None = None,
    creators: Sequence[str] = (),
    url: str | None = None,
    may_redistribute: bool = False,
) -> str:
    """Upload a data set or a run to a Hugging Face hub, as a dataset repository that is private if it is new.

    Parameters
    ----------
    path
        The folder of a complete data set, or of a finished run.
    repo
        The repository, ``"ORG/NAME"``.
    token_file
        A file with the token; by default that of the environment variable HF_TOKEN.
    license, date, creators, url, may_redistribute
        As for :func:`publish`.

    Returns
    -------
    The repository's address.

    Raises
    ------
    SalgenError
        If the license is missing, an option is malformed, the data set is incomplete or damaged, or the hub refuses.
    """
    stated: dict[str, Any] = {"license": license, "date": date, "creators": creators, "url": url}
    return upload(path, f"{HUB}{repo}", token_file=token_file, **stated, may_redistribute=may_redistribute)


def upload(
    path: str | os.PathLike[str],
    to: str,
    out: str | os.PathLike[str] | None = None,
    *,
    token_file: str | os.PathLike[str] | None = None,
    **statements: Any,
) -> str:
    """Publish as a draft on Zenodo, or as a dataset repository on a Hugging Face hub, and return the address.

    `out` is the archive that is written first and uploaded to Zenodo. An existing one is uploaded if it is identical to
    what would be written. A hub takes the files themselves, so that `out` must be None. Statements are those of
    :func:`publish`; the token is by default taken from the environment.
    """
    if to.startswith(HUB):
        if out is not None:
            raise SalgenError(f"{HUB} takes the files themselves, without an archive: leave out {out}")
        at_hub = repository(to, token_file)
        with open_release(path, **statements) as release:
            return push(release, at_hub)
    if not to.startswith(ZENODO):
        raise SalgenError(
            f"--to {to.partition(':')[0]!r} is not known: give {ZENODO} (Zenodo's sandbox) or "
            f"{ZENODO}https://zenodo.org, or {HUB}ORG/NAME (Hugging Face)"
        )
    if out is None:
        raise SalgenError(f"{to} takes an archive: say where to write it, as OUT")
    server = zenodo_server(to, token_file)
    _check_outside(Path(path), Path(out))
    with open_release(path, **statements) as release:
        return deposit(release, out, server)[1]


def open_release(
    path: str | os.PathLike[str], *, may_redistribute: bool = False, **statements: Any
) -> AbstractContextManager[Release]:
    """The release of a folder, checked; temporary files of it exist within the ``with`` block."""
    publication = stated(**{"license": None, "date": None, **statements})
    if statements.get("date") is None:
        print(f"date of publication: {publication.date} (UTC); for the same bytes later, state it", file=sys.stderr)
    folder = Path(path)
    if not folder.is_dir():
        fault = "is not a folder" if folder.exists() else "does not exist"
        raise SalgenError(f"{folder} {fault}: give the folder of a data set or of a run")
    make = published_run if (folder / RECORD).is_file() else published
    return make(folder, publication, may_redistribute=may_redistribute)


def _check_outside(folder: Path, target: Path) -> None:
    if folder.resolve() in target.resolve().parents:
        raise SalgenError(f"{target} lies within the folder that is published: choose a place outside {folder}")
