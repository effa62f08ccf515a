"""Verification of a data set folder; all problems are reported at once."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any
import numpy as np
from salgen.datasets.format import png
from salgen.datasets.format.checksums import file_problems
from salgen.datasets.format.manifest import Manifest, read_manifest
from salgen.datasets.format.schema import arrow_schema, pixels_digest
from salgen.datasets.format.shards import Shard, groups_of, open_shard, read_group, shards_of
from salgen.datasets.reading.batch import Batch
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, readable
from salgen.generators.factory import generator_of
from salgen.generators.generator import Generator
from salgen.progress import progress

SHOWN = 3  # samples that a line names


def verify(folder: Path, *, source: str | None = None, samples: int = 32) -> list[str]:
    """Problems of a data set folder, a line each, as `salgen.verify` finds them; those of :func:`unchecked` are none.

    Checked are the checksums, the spec's fingerprint and the schema. Each sample must have the digest of its pixels,
    and image and twin must be equal outside the mask. Some samples, evenly spread over the splits, are drawn and
    rendered again and must come out with the same recipe and the same bits.
    """
    try:
        described = read_manifest(folder)
    except SalgenError as error:
        return [str(error), *file_problems(folder, None)]
    problems, sound = file_problems(folder, described), list[Shard]()
    total = sum(described.spec.splits.values())
    with progress("verifying", total, "images") as advance:
        for shard in shards_of(described):
            try:
                with readable(f"{shard.path} is damaged"):
                    problems += shard_problems(folder, described, shard)
                sound.append(shard)
            except SalgenError as error:
                if (folder / shard.path).is_file():
                    problems.append(str(error))
            advance(len(shard))
    return problems + rendering_problems(folder, described, sound, source, min(samples, total))


def unchecked(folder: Path, *, source: str | None = None) -> str:
    """What cannot be checked of a data set without the material that it was made from, or ""."""
    try:
        described = read_manifest(folder)
    except SalgenError:
        return ""
    told = (
        f"checksums, schema and rows were checked; no sample was rendered again, as {described.spec.source} of "
        f"{described.spec.generator} is not part of it: give it with --source PATH"
    )
    return told if lacks_source(described, source) else ""


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


def rendering_problems(
    folder: Path, manifest: Manifest, sound: Sequence[Shard], source: str | None, count: int
) -> list[str]:
    """Differences when `count` samples, evenly spread over the splits, are rendered again; only of `sound` shards."""
    if not count or lacks_source(manifest, source):
        return []
    try:
        generator = generator_of(manifest.spec, source)
    except SalgenError as error:
        return [f"no sample could be rendered again: {error}"]
    datasets = {split: Dataset(folder, manifest, split, source) for split in manifest.splits}
    return [
        problem
        for split, index in _spread(manifest, count)
        if any(shard.split == split and shard.start <= index < shard.stop for shard in sound)
        for problem in _sample_problems(generator, datasets[split], index)
    ]


def lacks_source(manifest: Manifest, source: str | None) -> bool:
    """True if no sample can be rendered, as the material is somebody's own and is not given."""
    return source is None and (manifest.imported or not manifest.redistributable or not manifest.pixels)


def _spread(manifest: Manifest, count: int) -> list[tuple[str, int]]:
    """Evenly spread places over all samples: split and index."""
    places = [(split, index) for split in manifest.splits for index in range(manifest.spec.splits[split])]
    return [places[place] for place in np.linspace(0, len(places) - 1, count).round().astype(int)]


def _sample_problems(generator: Generator, dataset: Dataset, index: int) -> list[str]:
    """Differences when one sample is drawn and rendered again."""
    sample, manifest = f"{dataset.split}-{index:06d}", dataset.manifest
    try:
        with readable("its row"):
            (batch,) = dataset.batches(1, [index])
            (stored,) = batch.rows.to_pylist()
            drawn = next(groups_of(generator, manifest, Shard(dataset.split, 0, 1, index, index + 1)))
            compared = drawn.keys() & stored.keys() - (set() if manifest.pixels else {"image", "twin"})
            pairs = {name: (value, stored[name]) for name, (value,) in drawn.items() if name in compared}
            parts = [name for name, (value, kept) in pairs.items() if _plain(value) != _plain(kept)]
    except SalgenError as error:
        return [f"sample {sample} could not be rendered again: {error}"]
    if "recipe" in parts:
        return [f"sample {sample}: drawn again, it has another recipe"]
    return [f"sample {sample}: rendered again, it differs in {', '.join(parts)}"] if parts else []


def _plain(value: Any) -> Any:
    """The value of a cell, with the pixels of pictures, whose bytes depend on who wrote them."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return png.decode(value["bytes"]).tolist() if isinstance(value, dict) and "bytes" in value else value
