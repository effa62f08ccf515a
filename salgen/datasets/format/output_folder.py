"""The folder that a data set is written to: what may be there already, and who may write."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from salgen.datasets.format import checksums, manifest
from salgen.datasets.format.manifest import Manifest, installed_libraries, read_manifest
from salgen.datasets.format.shards import DATA
from salgen.errors import SalgenError
from salgen.files import TEMPORARY, cache_folder
from salgen.spec import DatasetSpec

WAY_OUT = "choose another OUT, or remove the folder"


class State(Enum):
    """Progress of the data set in its output folder."""

    NOTHING = "nothing"
    PART = "part"
    ALL = "all"


def check_destination(folder: Path, spec: DatasetSpec, *, twins: bool, recipes_only: bool = False) -> State:
    """Check that a data set can be written to `folder`, and return how much of it is there. Nothing is written.

    Raises
    ------
    SalgenError
        If it is a file, cannot be written to, or holds something else; the message says what differs.
    """
    if folder.exists() and not folder.is_dir():
        raise SalgenError(f"{folder} is a file: OUT must be a folder")
    if not folder.exists() or all(_is_remnant(path) for path in folder.iterdir()):
        _check_permission(folder)
        return State.NOTHING
    if not (folder / manifest.FILE).exists():
        raise SalgenError(f"{folder} is not empty and not a salgen data set: {WAY_OUT}")
    there = read_manifest(folder)
    differences = _differences(_wanted(there.spec, there.twins), _wanted(spec, twins))
    if differences:
        raise SalgenError(f"{folder} holds another data set ({'; '.join(differences)}): {WAY_OUT}")
    if not there.pixels:
        raise SalgenError(f"{folder} holds this data set as it was published, without pixels: {WAY_OUT}")
    if there.recipes_only != recipes_only:
        raise SalgenError(
            f"{folder} holds this data set {_form(there.recipes_only)}, not {_form(recipes_only)}: {WAY_OUT}"
        )
    if _is_complete(folder, there):
        return State.ALL
    _check_permission(folder)
    _check_continuation(folder, there)
    return State.PART


@contextmanager
def sole_writer(folder: Path, called: Path | None = None) -> Iterator[None]:
    """Keep the user's other salgen processes from writing to a folder; a message may call it otherwise.

    The lock is a file in the user's cache, named after the folder: nothing appears in the folder, and a process that
    is killed gives its lock up. Where no lock can be had, nobody is kept away.

    Raises
    ------
    SalgenError
        If another one is at it.
    """
    with ExitStack() as stack:
        try:
            locks = cache_folder() / "locks"
            locks.mkdir(exist_ok=True)
            name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()
            stack.enter_context(FileLock(locks / f"{name}.lock", timeout=0))
        except Timeout:
            raise SalgenError(
                f"{called or folder} is being written by another salgen process: wait until it is done"
            ) from None
        except OSError:  # a cache that cannot be written, or a file system without locks
            pass
        yield


def _check_permission(folder: Path) -> None:
    existing = folder.absolute()
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise SalgenError(f"{existing} is a file: OUT cannot lie within it")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise SalgenError(f"no permission to write to {existing}")


def _is_remnant(path: Path) -> bool:
    """True if this was left by a process that was killed before it wrote the manifest."""
    if path.name == DATA and path.is_dir() and not path.is_symlink():
        return all(map(_is_temporary, path.iterdir()))
    return _is_temporary(path)


def _is_temporary(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(TEMPORARY)


def _is_complete(folder: Path, there: Manifest) -> bool:
    return all((folder / name).exists() for name in (checksums.FILE, *checksums.files_of(there)))


def _check_continuation(folder: Path, there: Manifest) -> None:
    """Raise a SalgenError if missing shards would not get the bytes that the finished ones would have had."""
    usual = manifest.usual_shard(there.recipes_only)
    if there.samples_per_shard != usual:
        raise SalgenError(
            f"{folder} was begun with {there.samples_per_shard} samples per shard, this salgen writes "
            f"{usual}: {WAY_OUT}"
        )
    differences = _differences(there.libraries, installed_libraries())
    if differences:
        raise SalgenError(
            f"{folder} was begun with other library versions ({'; '.join(differences)}): install those, or {WAY_OUT}"
        )


def _form(recipes_only: bool) -> str:
    return "as recipes only" if recipes_only else "with its pictures"


def _wanted(spec: DatasetSpec, twins: bool) -> dict[str, Any]:
    """Everything that determines the data set, as one flat mapping."""
    values = {**spec.to_json(), "twins": twins}
    parameters, splits = values.pop("parameters"), values.pop("splits")
    return {**values, **parameters, **{f"split {name}": count for name, count in splits.items()}}


def _differences(there: dict[str, Any], here: dict[str, Any]) -> list[str]:
    keys = [key for key in {**there, **here} if there.get(key) != here.get(key)]
    return [f"{key} is {_shown(there, key)} there and {_shown(here, key)} here" for key in keys]


def _shown(values: dict[str, Any], key: str) -> str:
    return (str(values[key]) or "none") if key in values else "absent"
