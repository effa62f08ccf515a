"""A shard: one Parquet file, a pure function of generator, spec, split and shard number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from salgen.datasets import png
from salgen.datasets.manifest import Manifest
from salgen.datasets.schema import IMAGE, arrow_schema, mask_columns, pixels_digest, present_column, recipe_to_text
from salgen.files import atomic_path
from salgen.generators.generator import Generator
from salgen.types import Mask, Sample

DATA = "data"  # the folder of the shards

Pair = tuple[Sample, NDArray[Any] | None]


@dataclass(frozen=True)
class Shard:
    """One shard of a split: samples `start` up to `stop`.

    Attributes
    ----------
    split, number, of
        The split, the shard's place in it, and how many shards the split has.
    start, stop
        Indices of its samples.
    """

    split: str
    number: int
    of: int
    start: int
    stop: int

    @property
    def path(self) -> str:
        """Where the shard lies in the data set's folder."""
        return f"{DATA}/{self.split}-{self.number:05d}-of-{self.of:05d}.parquet"

    def __len__(self) -> int:
        return self.stop - self.start


def shards_of(manifest: Manifest, split: str | None = None) -> list[Shard]:
    """The shards of one split, or of all of them in order."""
    splits = manifest.splits if split is None else [split]
    return [shard for name in splits for shard in _shards_of_split(name, manifest)]


def write_shard(generator: Generator, manifest: Manifest, shard: Shard, folder: Path) -> None:
    """Render the samples of a shard and write them, whole or not at all.

    Nothing but the arguments decides the bytes: there is no compression (PNG is compressed), no
    time, and no statistics of the images.

    Raises
    ------
    OSError
        If the file cannot be written.
    SalgenError
        If a sample cannot be made.
    """
    pairs = generator.pairs(manifest.spec.seed, shard.split, range(shard.start, shard.stop), manifest.twins)
    with atomic_path(folder / shard.path) as temporary, shard_writer(temporary, manifest) as writer:
        while group := list(islice(pairs, manifest.rows_per_group)):
            writer.write_batch(_rows(group, generator, manifest, writer.schema))


def shard_writer(path: Path, manifest: Manifest) -> pq.ParquetWriter:
    """A writer of row groups, with the settings that all shards share."""
    return pq.ParquetWriter(
        path,
        arrow_schema(manifest),
        compression="none",
        use_dictionary=False,
        write_statistics=_filterable(manifest),
        write_page_checksum=True,
    )


def _rows(pairs: Sequence[Pair], generator: Generator, manifest: Manifest, schema: pa.Schema) -> pa.RecordBatch:
    """Samples as the rows of a Parquet row group."""
    samples = [sample for sample, _ in pairs]
    factors = [generator.plugin.factors(sample.recipe.parameters) for sample in samples]
    twins = [png.encode(twin) if manifest.twins and twin is not None else None for _, twin in pairs]
    values: dict[str, Any] = {
        "id": [sample.id for sample in samples],
        "image": _images([png.encode(sample.image) for sample in samples]),
        "alternative_masks": [_pictures(sample.alternatives) for sample in samples],
        "twin": _images(twins),
        "recipe": [recipe_to_text(sample.recipe) for sample in samples],
        "factors": factors,
        "pixels_sha256": [pixels_digest(sample.image) for sample in samples],
    }
    values |= {task: [sample.labels[task] for sample in samples] for task in manifest.tasks}
    values |= {
        present_column(task): [list(sample.present[task]) for sample in samples] for task in manifest.multi_label
    }
    for column, region in mask_columns(manifest).items():
        values[column] = _images([png.encode_mask(sample.regions[region]) for sample in samples])
    arrays = [
        values[field.name] if isinstance(values[field.name], pa.Array) else pa.array(values[field.name], field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _pictures(masks: Sequence[Mask]) -> list[dict[str, Any]]:
    """Masks as a list of Hugging Face's structs."""
    return [{"bytes": png.encode_mask(mask), "path": None} for mask in masks]


def _images(encoded: Sequence[bytes | None]) -> pa.Array:
    """Encoded images as Hugging Face's struct of bytes and path, null where there is none."""
    absent = pa.array([data is None for data in encoded], pa.bool_())
    paths = pa.nulls(len(encoded), pa.string())
    return pa.StructArray.from_arrays([pa.array(encoded, pa.binary()), paths], fields=list(IMAGE), mask=absent)


def _filterable(manifest: Manifest) -> list[str]:
    """The leaf columns whose minimum and maximum help a reader that filters."""
    return ["id", *manifest.tasks, *(f"factors.{name}" for name in manifest.factors)]


def _shards_of_split(split: str, manifest: Manifest) -> list[Shard]:
    total, size = manifest.spec.splits[split], manifest.samples_per_shard
    count = -(-total // size)
    return [Shard(split, k, count, k * size, min((k + 1) * size, total)) for k in range(count)]
