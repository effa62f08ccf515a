"""The folder that something is written to: its place, its permitted contents, and the lock of its one writer."""

import hashlib
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal
from filelock import FileLock, Timeout
from salgen.datasets.format import checksums, manifest
from salgen.datasets.format.manifest import installed_libraries, read_manifest
from salgen.datasets.format.shards import DATA
from salgen.errors import SalgenError
from salgen.files import TEMPORARY, cache_folder
from salgen.spec import DatasetSpec

WAY_OUT = "choose another OUT, or remove the folder"
SCORES = "scores.parquet"  # written when a run is finished
State = Literal["nothing", "part", "all"]  # how much of a data set its output folder holds


def check_destination(folder: Path, spec: DatasetSpec, *, twins: bool, recipes_only: bool = False) -> State:
    """Check that a data set can be written to `folder`, and return how much of it is there. Nothing is written."""
    if folder.exists() and not folder.is_dir():
        raise SalgenError(f"{folder} is a file: OUT must be a folder")
    if not folder.exists() or all(_is_remnant(path) for path in folder.iterdir()):
        return "nothing"
    if not (folder / manifest.FILE).exists():
        raise SalgenError(f"{folder} is not empty and not a salgen data set: {WAY_OUT}")
    existing = read_manifest(folder)
    wanted = _flattened(spec, twins, recipes_only, pixels=True)
    there = _flattened(existing.spec, existing.twins, existing.recipes_only, existing.pixels)
    if differences := _differences(there, wanted):
        raise SalgenError(f"{folder} holds another data set ({differences}): {WAY_OUT}")
    if all((folder / name).exists() for name in (checksums.FILE, *checksums.files_of(existing))):
        return "all"
    # Missing shards must get the bytes that the finished ones would have had.
    if differences := _differences(existing.libraries, installed_libraries()):
        raise SalgenError(f"{folder} was begun with other library versions ({differences}): use those, or {WAY_OUT}")
    return "part"


@contextmanager
def sole_writer(folder: Path, called: Path | None = None, *, in_a_run: bool = False) -> Iterator[None]:
    """Keep the user's other salgen processes from writing to a folder; messages name it `called` if given.

    The lock is a file in the user's cache: a process that is killed releases it. Without locks, none is kept away.
    """
    check_outside(called or folder, in_a_run=in_a_run)
    with ExitStack() as stack:
        try:
            locks = cache_folder() / "locks"
            locks.mkdir(exist_ok=True)
            name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()
            holder = locks / f"{name}.holder"
            stack.enter_context(FileLock(locks / f"{name}.lock", timeout=0))
            holder.write_text(f"process {os.getpid()} on {platform.node()}", encoding="utf-8")
            stack.callback(holder.unlink, missing_ok=True)
        except Timeout:
            who = f" ({holder.read_text(encoding='utf-8')})" if holder.is_file() else ""
            busy = "is being written by another salgen process: wait until it is done, or end it"
            raise SalgenError(f"{called or folder} {busy}{who}") from None
        except OSError:  # a cache that cannot be written, or a file system without locks
            pass
        yield


@contextmanager
def workplace(out: Path) -> Iterator[Path]:
    """An empty folder beside `out`, in which it is built before it takes its name.

    It is removed afterwards, whatever happens; what a killed process left there is removed first.
    """
    place = out.absolute().with_name(f".{out.absolute().name}.unfinished")
    try:
        with sole_writer(place, out):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            try:
                yield place
            finally:
                shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        cause = os.strerror(error.errno) if error.errno else str(error)
        raise SalgenError(f"{out}: {cause}; nothing was written") from error


def check_outside(path: Path, *, in_a_run: bool = False) -> None:
    """Check that a new file or folder does not lie within a data set or a run, whose verification would then fail."""
    for folder in path.resolve().parents:
        names = (manifest.FILE, manifest.RUN, checksums.FILE, SCORES)
        there = {name for name in names if (folder / name).is_file()}
        finished = checksums.FILE in there or (SCORES in there and not in_a_run)
        if manifest.FILE in there or (manifest.RUN in there and finished):
            kind = "data set" if manifest.FILE in there else "run"
            within = f"lies within the {kind} {folder}, whose `salgen verify` would fail"
            raise SalgenError(f"{path} {within}: choose a place outside it")


def _is_remnant(path: Path) -> bool:
    """True if this was left by a process that was killed before it wrote the manifest."""
    left = path.iterdir() if path.name == DATA and path.is_dir() and not path.is_symlink() else [path]
    return all(file.name.startswith(".") and file.name.endswith(TEMPORARY) for file in left)


def _flattened(spec: DatasetSpec, twins: bool, recipes_only: bool, pixels: bool) -> dict[str, Any]:
    """Everything that determines the data set, as one flat mapping."""
    values = {**spec.to_json(), "twins": twins, "recipes_only": recipes_only, "pixels": pixels}
    parameters, splits = values.pop("parameters"), values.pop("splits")
    return {**values, **parameters, **{f"split {name}": count for name, count in splits.items()}}


def _differences(existing: dict[str, Any], requested: dict[str, Any]) -> str:
    def text(values: dict[str, Any], key: str) -> str:
        return (str(values[key]) or "none") if key in values else "absent"

    keys = [key for key in {**existing, **requested} if existing.get(key) != requested.get(key)]
    return "; ".join(f"{key} is {text(existing, key)} there and {text(requested, key)} here" for key in keys)
