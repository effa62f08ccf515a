"""Checks of every row of a shard."""

from collections import defaultdict
from pathlib import Path
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import arrow_schema, pixels_digest
from salgen.datasets.format.shards import Shard, open_shard, read_group
from salgen.datasets.reading.batch import Batch

SHOWN = 3  # samples that a line names


def shard_problems(folder: Path, manifest: Manifest, shard: Shard) -> list[str]:
    """Faults of a shard's pixel digests and twins, with the samples that have them."""
    faults: dict[str, list[str]] = defaultdict(list)
    file = open_shard(folder, shard, arrow_schema(manifest), manifest.rows_per_group)
    for group in range(file.num_row_groups if manifest.stores_pixels else 0):
        batch = Batch(read_group(folder / shard.path, file, group), folder, manifest)
        rows = zip(batch.ids, batch.levels(), batch.twin_levels(), batch.masks, batch.pixel_digests, strict=True)
        for name, image, twin, mask, digest in rows:
            if pixels_digest(image.transpose(1, 2, 0)) != digest:
                faults["pixels are not those of pixels_sha256"].append(name)
            if batch.exact and twin is not None and ((image != twin).any(axis=0) & ~mask).any():
                faults["image and twin differ outside the mask"].append(name)
    problems = []
    for fault, samples in faults.items():
        more = f" and {len(samples) - SHOWN} more" if len(samples) > SHOWN else ""
        problems.append(f"{shard.path}: {fault}: {', '.join(samples[:SHOWN])}{more}")
    return problems
