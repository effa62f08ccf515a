"""Making a data set: check everything, write the manifest, then the shards, then the texts that describe them.

Shards are whole or not there and depend on nothing but the spec. So a run that was stopped is
continued by running it again, and ends with the same bytes.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from salgen.command_line import COMMAND
from salgen.datasets.execution.executors import Executor
from salgen.datasets.execution.pool import write_in_parallel
from salgen.datasets.format import checksums, manifest
from salgen.datasets.format.manifest import Manifest, describe
from salgen.datasets.format.output_folder import check_destination, sole_writer
from salgen.datasets.format.shards import DATA, shards_of, write_shard
from salgen.datasets.metadata.card import card_text
from salgen.datasets.metadata.croissant import croissant_text
from salgen.errors import SalgenError, unknown_name
from salgen.files import remove_temporaries, write_text
from salgen.generators import factory
from salgen.generators.generator import Generator
from salgen.progress import progress

CONTINUES = "what is finished stays; the same command continues it"


def make(
    name: str,
    out: str | os.PathLike[str] | None = None,
    *,
    scale: str = "small",
    splits: Mapping[str, int | None] | None = None,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    source: str | None = None,
    workers: int | None = None,
    executor: str = "local",
    ray_address: str | None = None,
    twins: bool = True,
    recipes_only: bool = False,
) -> Path:
    """Make a data set folder, or continue one that was stopped.

    Parameters
    ----------
    name
        A registered generator.
    out
        The folder; ``./NAME`` if None.
    scale
        Registered defaults for parameters and split sizes.
    splits
        Split name to number of samples: only these splits are made, and the scale's if None. A number of None is the
        scale's too. Further splits are called after one of the generator's, such as ``test_second``.
    seed
        Any non-negative integer.
    parameters
        Values that override the scale's.
    source
        The outside material: a path or a name that the generator knows.
    workers
        Processes; as many as there are processors if None. The bytes do not depend on it.
    executor
        ``local``, or ``ray``, which goes on with other workers if some are killed.
    ray_address
        ``HOST:PORT`` of a running Ray, or ``auto``; None starts one on this machine. All machines of a
        cluster must see `out` and `source` under the same path, and have the same salgen.
    twins
        Store counterfactual twins.
    recipes_only
        Store ids, labels, recipes and factors alone: images, twins and masks are rendered as they are read.

    Returns
    -------
    The folder. Beside it lies a log, `<folder>.log`, with a line of JSON for each run.

    Raises
    ------
    SalgenError
        If an argument is refused, the folder holds something else, or the disk is full.

    Examples
    --------
    >>> make("perlin-lesions", "perlin", splits={"train": 2000, "test": 200}, seed=0)  # doctest: +SKIP
    PosixPath('perlin')
    """
    folder = Path(name if out is None else out)
    runs = Executor(executor, workers, ray_address)
    generator = factory.generator(name, source, scale, **(parameters or {}))
    spec = generator.spec(_counts(generator, factory.scale_of(type(generator.plugin), scale).splits, splits), seed)
    started, existed = time.monotonic(), folder.exists()
    with sole_writer(folder):
        state = check_destination(folder, spec, twins=twins, recipes_only=recipes_only)
        if state == "all":
            print(f"{folder} is already complete: nothing to do", file=sys.stderr)
            return folder
        described = describe(generator, spec, twins=twins, recipes_only=recipes_only)
        try:
            (folder / DATA).mkdir(parents=True, exist_ok=True)
            images = _write(generator, described, folder, runs)
        except OSError as error:
            place = f" ({error.filename})" if error.filename else ""
            cause = os.strerror(error.errno) if error.errno else str(error)
            raise SalgenError(f"{folder}: {cause}{place}; {CONTINUES}") from error
        except SalgenError:  # an error in the spec leaves nothing behind
            if state == "nothing":
                shutil.rmtree(folder / DATA)
                (folder / manifest.FILE).unlink(missing_ok=True)
                if not existed:
                    folder.rmdir()
            raise
    _log(folder, runs, images, time.monotonic() - started)
    return folder


def _counts(generator: Generator, usual: Mapping[str, int], wanted: Mapping[str, int | None] | None) -> dict[str, int]:
    """Samples of the wanted splits; else of the scale's usual ones, as far as the source holds so many."""
    available = generator.available
    if available is not None:
        usual = {split: min(count, usual.get(split, count)) for split, count in available.items() if count}
    known = {*("train", "val", "test"), *usual, *(available or ())}
    counts = {split: usual.get(split, 0) if count is None else count for split, count in (wanted or usual).items()}
    for split, count in counts.items():
        if split not in known and split.partition("_")[0] not in known:
            raise unknown_name(f"split of {generator.plugin.name}", split, known)
        if available is not None and count > available.get(split, 0):
            there = available.get(split, 0)
            raise SalgenError(f"{split} = {count}: {generator.source.name} has only {there} samples for it")
    return counts


def _write(generator: Generator, described: Manifest, folder: Path, executor: Executor) -> int:
    """Write the missing shards, and return their number of images."""
    remove_temporaries(folder)
    remove_temporaries(folder / DATA)
    if not (folder / manifest.FILE).exists():
        write_text(folder / manifest.FILE, described.to_text())
    missing = [shard for shard in shards_of(described) if not (folder / shard.path).exists()]
    total, remaining = sum(described.spec.splits.values()), sum(map(len, missing))
    with progress(f"making {described.spec.generator}", total, "images", done=total - remaining) as advance:
        if not missing or (executor.name == "local" and min(executor.processes, len(missing)) < 2):
            for shard in missing:
                write_shard(generator, described, folder, shard)
                advance(len(shard))
        else:
            bare = replace(generator)  # each process prepares the material for itself
            for shard in write_in_parallel((bare, described, folder.absolute()), missing, executor):
                advance(len(shard))
    write_text(folder / checksums.CARD, card_text(described, type(generator.plugin)))
    write_text(folder / checksums.CROISSANT, croissant_text(described))
    checksums.write_checksums(folder, described)
    return remaining


def _log(folder: Path, executor: Executor, images: int, seconds: float) -> None:
    """Append a line about this run to the log, which lies outside the data set."""
    place = folder.resolve()
    entry = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": COMMAND.get() or sys.argv,
        "executor": executor.name,
        "workers": None if executor.address else executor.processes,
        "images": images,
        "seconds": round(seconds, 3),
        "images_per_second": round(images / max(seconds, 1e-9), 1),
    }
    try:
        with open(place.with_name(f"{place.name}.log"), "a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
    except OSError as error:  # the data set is complete; a read-only folder above it is no error
        print(f"no log was written: {error}", file=sys.stderr)
