"""A shard: one Parquet file, a pure function of generator, spec, split and shard number; written, and read checked."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
import pyarrow as pa
import pyarrow.parquet as pq
from salgen.datasets.format import png
from salgen.datasets.format import schema as schemas
from salgen.datasets.format.manifest import Manifest
from salgen.errors import SalgenError, readable
from salgen.files import atomic_path
from salgen.generators.generator import Generator
from salgen.generators.interfaces import Attributed, Labelled
from salgen.types import Recipe

DATA = "data"  # the folder of the shards
ATTRIBUTION = "attribution" + 3 * ".list.element"  # Parquet's path of the numbers
LEVEL = 9  # zstd's level; a higher one is slower and hardly smaller

Classes = tuple[Mapping[str, int], Mapping[str, Sequence[int]]]  # each task's class, and where there are several all


@dataclass(frozen=True)
class Shard:
    """One shard of a split: samples `start` up to `stop`."""

    split: str
    number: int  # its place in the split
    of: int  # number of shards of the split
    start: int  # index of its first sample
    stop: int  # index after its last sample

    @property
    def path(self) -> str:
        """Path of the shard within the data set's folder."""
        return f"{DATA}/{self.split}-{self.number:05d}-of-{self.of:05d}.parquet"

    def __len__(self) -> int:
        return self.stop - self.start


def shards_of(manifest: Manifest, split: str | None = None) -> list[Shard]:
    """The shards of one split, or of all of them in order."""
    shards, size = [], manifest.samples_per_shard
    for name in manifest.splits if split is None else [split]:
        total = manifest.spec.splits[name]
        count = -(-total // size)
        shards += [Shard(name, k, count, k * size, min((k + 1) * size, total)) for k in range(count)]
    return shards


def write_shard(generator: Generator, manifest: Manifest, folder: Path, shard: Shard) -> None:
    """Render the samples of a shard, or draw their recipes alone, and write them, whole or not at all."""
    with atomic_path(folder / shard.path) as temporary, shard_writer(temporary, manifest) as writer:
        for values in groups_of(generator, manifest, shard):
            columns = {field.name: values.get(field.name, [None] * len(values["id"])) for field in writer.schema}
            writer.write_batch(pa.RecordBatch.from_pydict(columns, writer.schema))


def groups_of(generator: Generator, manifest: Manifest, shard: Shard) -> Iterator[dict[str, Any]]:
    """The columns of each row group: name to values; a column without values is null."""
    return (_recipe_groups if manifest.recipes_only else _picture_groups)(generator, manifest, shard)


def shard_writer(path: Path, manifest: Manifest) -> pq.ParquetWriter:
    """A writer of row groups, with the settings that all shards share."""
    return pq.ParquetWriter(
        path,
        schemas.arrow_schema(manifest),
        compression="zstd" if manifest.recipes_only else {ATTRIBUTION: "zstd"} if manifest.attribution else "none",
        compression_level=LEVEL if manifest.recipes_only else None,
        use_dictionary=False,
        # The leaf columns whose minimum and maximum help a reader that filters.
        write_statistics=["id", *manifest.tasks, *(f"factors.{name}" for name in manifest.factors)],
        write_page_checksum=True,
    )


def _picture_groups(generator: Generator, manifest: Manifest, shard: Shard) -> Iterator[dict[str, Any]]:
    """The columns of each row group, with pictures."""
    pairs = generator.pairs(manifest.spec.seed, shard.split, range(shard.start, shard.stop), manifest.twins)
    while group := list(islice(pairs, manifest.rows_per_group)):
        samples = [sample for sample, _ in group]
        classes = [(sample.labels, sample.present) for sample in samples]
        values = _recipe_columns([sample.recipe for sample in samples], classes, generator, manifest)
        values["image"] = _images([png.encode(sample.image) for sample in samples])
        twins = [png.encode(twin) if manifest.twins and twin is not None else None for _, twin in group]
        values["twin"] = _images(twins)
        for column, region in schemas.mask_columns(manifest).items():
            values[column] = _images([png.encode_mask(sample.regions[region]) for sample in samples])
        values["alternative_masks"] = [_images(list(map(png.encode_mask, sample.alternatives))) for sample in samples]
        values["pixels_sha256"] = [schemas.pixels_digest(sample.image) for sample in samples]
        if isinstance(generator.plugin, Attributed):
            values["attribution"] = [generator.plugin.attribution(s.recipe.parameters).tolist() for s in samples]
        yield values


def _recipe_groups(generator: Generator, manifest: Manifest, shard: Shard) -> Iterator[dict[str, Any]]:
    """The columns of each row group, without pictures; rendered only where the choices do not tell the classes."""
    for start in range(shard.start, shard.stop, manifest.rows_per_group):
        indices = range(start, min(start + manifest.rows_per_group, shard.stop))
        recipes = [generator.recipe(manifest.spec.seed, shard.split, index) for index in indices]
        classes: list[Classes]
        if isinstance(generator.plugin, Labelled) and not manifest.multi_label:
            classes = [(generator.plugin.labels(recipe.parameters), {}) for recipe in recipes]
        else:
            classes = [(sample.labels, sample.present) for sample, _ in generator.render_pairs(recipes, twins=False)]
        yield _recipe_columns(recipes, classes, generator, manifest)


def _recipe_columns(
    recipes: Sequence[Recipe], classes: Sequence[Classes], generator: Generator, manifest: Manifest
) -> dict[str, Any]:
    """The columns of samples that need no picture: name to values."""
    several = {task: [list(present[task]) for _, present in classes] for task in manifest.multi_label}
    return {
        "id": [recipe.id for recipe in recipes],
        schemas.FILE_NAME: [recipe.parameters.get("item") for recipe in recipes],
        **{task: [labels[task] for labels, _ in classes] for task in manifest.tasks},
        **{schemas.present_column(task): shown for task, shown in several.items()},
        "cluster": [generator.cluster(recipe) for recipe in recipes],
        "recipe": [schemas.recipe_to_text(recipe) for recipe in recipes],
        "factors": [generator.plugin.factors(recipe.parameters) for recipe in recipes],
    }


def _images(encoded: Sequence[bytes | None]) -> list[Any]:
    """Encoded images as Hugging Face's struct of bytes and path, null where there is none."""
    return [None if data is None else {"bytes": data, "path": None} for data in encoded]


def open_shard(folder: Path, shard: Shard, schema: pa.Schema, rows_per_group: int) -> pq.ParquetFile:
    """A shard's file, with its schema and the rows of its groups checked."""
    path = folder / shard.path
    if not path.exists():
        raise SalgenError(f"{path} is missing: the same 'salgen make' writes it again")
    with _unaltered(path):
        file = pq.ParquetFile(path, memory_map=True, page_checksum_verification=True)
        same = file.schema_arrow.equals(schema)
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    if not same or sizes != [min(rows_per_group, len(shard) - s) for s in range(0, len(shard), rows_per_group)]:
        raise SalgenError(f"{path} was altered: its columns or rows are not those that salgen.json describes")
    return file


def read_group(path: Path, file: pq.ParquetFile, group: int, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of one row group."""
    with _unaltered(path):
        return file.read_row_group(group, columns=None if columns is None else list(columns))


def _unaltered(path: Path) -> AbstractContextManager[None]:
    return readable(f"{path} is truncated or altered", ": remove it, and the same 'salgen make' writes it again")
