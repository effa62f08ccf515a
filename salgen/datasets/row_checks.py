"""What must hold for every row of a shard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from salgen.datasets.batch import Batch
from salgen.datasets.manifest import Manifest
from salgen.datasets.schema import arrow_schema, pixels_digest
from salgen.datasets.shard_files import open_shard, read_group
from salgen.datasets.shards import Shard

SHOWN = 3  # samples that a line names

Found = NDArray[np.bool_]


def shard_problems(folder: Path, manifest: Manifest, shard: Shard) -> list[str]:
    """Faults of a shard's ids, pixel digests and twins, with the samples that have them.

    Raises
    ------
    SalgenError
        If the shard, or an image in it, cannot be read.
    """
    faults: dict[str, list[str]] = {}
    file = open_shard(folder, shard, arrow_schema(manifest), manifest.rows_per_group)
    start = shard.start
    for group in range(file.num_row_groups):
        rows = read_group(folder / shard.path, file, group)
        _check(rows, Batch(rows, folder, manifest), shard, start, faults)
        start += rows.num_rows
    return [f"{shard.path}: {fault}: {_named(samples)}" for fault, samples in faults.items()]


def _check(rows: pa.Table, batch: Batch, shard: Shard, start: int, faults: dict[str, list[str]]) -> None:
    """Add the faults of one row group."""
    expected = [f"{shard.split}-{index:06d}" for index in range(start, start + len(batch))]
    images = batch.levels()
    digests = [pixels_digest(np.ascontiguousarray(image.transpose(1, 2, 0))) for image in images]
    checks = {
        "ids are not in order": np.array(batch.ids) != np.array(expected),
        "pixels are not those of pixels_sha256": np.array(digests) != np.array(rows["pixels_sha256"].to_pylist()),
        "image and twin differ outside the mask": _leaks(batch, images) & batch.exact,
    }
    for fault, found in checks.items():
        if found.any():
            faults.setdefault(fault, []).extend(expected[row] for row in np.flatnonzero(found))


def _leaks(batch: Batch, images: NDArray[np.integer]) -> Found:
    """Where image and twin differ on a pixel that the mask does not hold, bool (N,)."""
    found = np.zeros(len(batch), dtype=bool)
    for row, twin in enumerate(batch.twin_levels()):
        if twin is not None:
            found[row] = bool(((images[row] != twin).any(axis=0) & ~batch.masks[row]).any())
    return found


def _named(samples: list[str]) -> str:
    more = f" and {len(samples) - SHOWN} more" if len(samples) > SHOWN else ""
    return ", ".join(samples[:SHOWN]) + more
