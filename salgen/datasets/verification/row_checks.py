"""Checks of every row of a shard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import PICTURES, arrow_schema, columns, pixels_digest
from salgen.datasets.format.shard_files import open_shard, read_group
from salgen.datasets.format.shards import Shard
from salgen.datasets.reading.batch import Batch

SHOWN = 3  # samples that a line names
DIGEST = re.compile("[0-9a-f]{64}")

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
        _check(rows, folder, manifest, shard, start, faults)
        start += rows.num_rows
    return [f"{shard.path}: {fault}: {_named(samples)}" for fault, samples in faults.items()]


def _check(
    rows: pa.Table, folder: Path, manifest: Manifest, shard: Shard, start: int, faults: dict[str, list[str]]
) -> None:
    """Add the faults of one row group."""
    batch = Batch(rows, folder, manifest)
    expected = [f"{shard.split}-{index:06d}" for index in range(start, start + len(batch))]
    checks = {
        "ids are not in order": _differ(batch.ids, expected),
        "the class is not among those present": _class_is_absent(batch, manifest),
        **_checks_of_pictures(rows, batch, manifest, shard.split, start),
    }
    for fault, found in checks.items():
        if found.any():
            faults.setdefault(fault, []).extend(expected[row] for row in np.flatnonzero(found))


def _checks_of_pictures(rows: pa.Table, batch: Batch, manifest: Manifest, split: str, start: int) -> dict[str, Found]:
    if manifest.recipes_only:
        return _recipe_checks(rows, batch, manifest, split, start)
    return _pixel_checks(batch) if manifest.pixels else _absence_checks(rows, batch)


def _recipe_checks(rows: pa.Table, batch: Batch, manifest: Manifest, split: str, start: int) -> dict[str, Found]:
    """Checks of a data set of recipes only. Reading raises if classes or recipes are malformed."""
    _ = [batch.classes(task) for task in manifest.tasks]
    pictures = [column.name for column in columns(manifest) if column.kind in PICTURES] + ["pixels_sha256"]
    spec = manifest.spec
    wanted = [(spec.generator, spec.generator_version, split, start + row) for row in range(len(batch))]
    found = [(recipe.generator, recipe.version, recipe.split, recipe.index) for recipe in batch.recipes]
    return {
        "a picture or its digest is there, though the data set says that it holds recipes only": np.any(
            [_is_there(rows, name) for name in pictures], axis=0
        ),
        "the recipe is another sample's": np.array([one != other for one, other in zip(found, wanted, strict=True)]),
    }


def _is_there(rows: pa.Table, name: str) -> Found:
    """True for each row in which a column is not null, bool (N,)."""
    return np.asarray(rows[name].combine_chunks().is_valid().to_numpy(zero_copy_only=False))


def _pixel_checks(batch: Batch) -> dict[str, Found]:
    """Checks of stored images and twins."""
    images = batch.levels()
    digests = [pixels_digest(np.ascontiguousarray(image.transpose(1, 2, 0))) for image in images]
    return {
        "pixels are not those of pixels_sha256": _differ(digests, batch.pixel_digests),
        "image and twin differ outside the mask": _leaks(batch, images) & batch.exact,
    }


def _absence_checks(rows: pa.Table, batch: Batch) -> dict[str, Found]:
    """Checks of a data set without pixels. Decoding raises if a mask is malformed."""
    _ = [batch.region(region) for region in batch.region_names], batch.alternatives
    return {
        "pixels are there, though the data set says that it holds none": _is_there(rows, "image")
        | _is_there(rows, "twin"),
        "pixels_sha256 is no SHA-256": np.array([not DIGEST.fullmatch(text) for text in batch.pixel_digests]),
    }


def _class_is_absent(batch: Batch, manifest: Manifest) -> Found:
    """True for each sample whose class is not among those that its image shows, bool (N,)."""
    found = np.zeros(len(batch), dtype=bool)
    for task in manifest.multi_label:
        found |= ~batch.present(task)[np.arange(len(batch)), batch.classes(task)]
    return found


def _differ(found: Sequence[str], expected: Sequence[str]) -> Found:
    """True where texts differ, bool (N,); NumPy's own comparison would drop zero characters at their ends."""
    return np.array([one != other for one, other in zip(found, expected, strict=True)])


def _leaks(batch: Batch, images: NDArray[np.integer]) -> Found:
    """True for each sample whose image and twin differ outside the mask, bool (N,)."""
    found = np.zeros(len(batch), dtype=bool)
    for row, twin in enumerate(batch.twin_levels()):
        if twin is not None:
            found[row] = bool(((images[row] != twin).any(axis=0) & ~batch.masks[row]).any())
    return found


def _named(samples: list[str]) -> str:
    more = f" and {len(samples) - SHOWN} more" if len(samples) > SHOWN else ""
    return ", ".join(samples[:SHOWN]) + more
