"""Checks of every row of a shard."""

from collections.abc import Sequence
from pathlib import Path
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import arrow_schema, pixels_digest
from salgen.datasets.format.shards import Shard, open_shard, read_group
from salgen.datasets.reading.batch import Batch

SHOWN = 3  # samples that a line names
Rows = NDArray[np.bool_]  # True for each row with the fault


def shard_problems(folder: Path, manifest: Manifest, shard: Shard) -> list[str]:
    """Faults of a shard's ids, pixel digests and twins, with the samples that have them."""
    faults: dict[str, list[str]] = {}
    file = open_shard(folder, shard, arrow_schema(manifest), manifest.rows_per_group)
    start = shard.start
    for group in range(file.num_row_groups):
        rows = read_group(folder / shard.path, file, group)
        batch = Batch(rows, folder, manifest)
        expected = [f"{shard.split}-{index:06d}" for index in range(start, start + len(batch))]
        checks = {
            "ids are not in order": _differ(batch.ids, expected),
            "the class is not among those present": _class_is_absent(batch, manifest),
        }
        if manifest.stores_pixels:
            checks |= _pixel_checks(batch)
        for fault, faulty in checks.items():
            if faulty.any():
                faults.setdefault(fault, []).extend(expected[row] for row in np.flatnonzero(faulty))
        start += rows.num_rows
    problems = []
    for fault, samples in faults.items():
        more = f" and {len(samples) - SHOWN} more" if len(samples) > SHOWN else ""
        problems.append(f"{shard.path}: {fault}: {', '.join(samples[:SHOWN])}{more}")
    return problems


def _pixel_checks(batch: Batch) -> dict[str, Rows]:
    """Checks of stored images and twins."""
    images = batch.levels()
    digests = [pixels_digest(np.ascontiguousarray(image.transpose(1, 2, 0))) for image in images]
    leaks = [
        twin is not None and bool(((image != twin).any(axis=0) & ~mask).any())
        for image, twin, mask in zip(images, batch.twin_levels(), batch.masks, strict=True)
    ]
    return {
        "pixels are not those of pixels_sha256": _differ(digests, batch.pixel_digests),
        "image and twin differ outside the mask": np.array(leaks) & batch.exact,
    }


def _class_is_absent(batch: Batch, manifest: Manifest) -> Rows:
    """True for each sample whose class is not among those that its image shows, bool (N,)."""
    absent = np.zeros(len(batch), dtype=bool)
    for task in manifest.multi_label:
        absent |= ~batch.present(task)[np.arange(len(batch)), batch.classes(task)]
    return absent


def _differ(actual: Sequence[str], expected: Sequence[str]) -> Rows:
    """True where texts differ, bool (N,); NumPy's own comparison would drop zero characters at their ends."""
    return np.array([a != b for a, b in zip(actual, expected, strict=True)])
