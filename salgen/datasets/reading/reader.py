"""Reading a data set: one sample, batches in bounded memory, or all images of a split."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from salgen.datasets.archives.unpacking import unpacked
from salgen.datasets.format import schema
from salgen.datasets.format.manifest import Manifest, read_manifest
from salgen.datasets.format.shards import open_shard, read_group, shards_of
from salgen.datasets.reading.batch import Batch, RenderedBatch
from salgen.datasets.reading.pictures import Item
from salgen.errors import SalgenError, unknown_name
from salgen.generators.factory import generator_of
from salgen.generators.generator import Generator
from salgen.spec import DatasetSpec
from salgen.types import Float32

CACHED_BYTES = 2**26  # cache of row groups: a small data set is read once however it is shuffled
AT_A_TIME = 64  # samples that a pass over a split decodes or renders together

__all__ = ["Batch", "Dataset", "open_dataset"]


def open_dataset(
    path: str | os.PathLike[str] | Dataset, split: str | None = None, source: str | os.PathLike[str] | None = None
) -> Dataset:
    """One split of a data set folder, or of an archive.

    Parameters
    ----------
    path
        The folder that `salgen make` wrote, or the archive that `salgen publish` wrote. An archive is unpacked
        into the user's cache folder the first time. A `Dataset` stands for its path, split and source.
    split
        ``test`` if None, or the first split where there is no test split.
    source
        The outside material that the data set was made from, where that is not its generator's own. It is needed
        only for the pictures of a data set that holds recipes only, which are rendered as they are read.

    Raises
    ------
    SalgenError
        If the folder is missing or no salgen data set, has no such split, or lacks a shard, or if the archive
        is not sound, or pictures are to be rendered and `source` is another one.

    Examples
    --------
    >>> samples = open_dataset("perlin-lesions", split="test")  # doctest: +SKIP
    >>> samples[0]["image"].shape, samples[0]["mask"].shape  # doctest: +SKIP
    ((1, 64, 64), (64, 64))
    """
    if isinstance(path, Dataset):
        split, source = split or path.split, path.source if source is None else source
    folder = unpacked(Path(path))
    manifest = read_manifest(folder)
    if split is None:
        split = "test" if "test" in manifest.splits else manifest.splits[0]
    _check_split(folder, manifest, split)
    dataset = Dataset(folder, manifest, split, None if source is None else os.fspath(source))
    if source is not None and manifest.recipes_only:
        dataset.generator()  # a wrong source is reported before any work
    return dataset


class Dataset(os.PathLike[str]):
    """One split, indexed like a list; a `torch.utils.data.DataLoader` takes it, with ``collate_fn=salgen.collate``.

    Its attributes are the folder's `path` and `name`, the `split`, and the `source` that it was opened with. `manifest`
    describes the folder, `spec` is the specification in it, and `fingerprint` the digest of that. `tasks` are task name
    to class names; the first task is the default one. `region_names` are the regions that every sample has. In
    `valid_region` maps are scored by default; None is the whole image.
    """

    def __init__(self, path: Path, manifest: Manifest, split: str, source: str | None = None) -> None:
        self.path = path
        self.name = path.resolve().name
        self.manifest = manifest
        self.spec: DatasetSpec = manifest.spec
        self.fingerprint = manifest.spec.fingerprint
        self.split = split
        self.source = source
        self.tasks = dict(manifest.tasks)
        self.valid_region = manifest.valid_region
        self.region_names = list(manifest.regions)
        self._shards = shards_of(manifest, split)
        self._schema = schema.arrow_schema(manifest)
        rendered = schema.PICTURES if manifest.recipes_only else ()
        self._stored = [column.name for column in schema.columns(manifest) if column.kind not in rendered]
        self._groups: dict[tuple[int, int], pa.Table] = {}
        self._generator: Generator | None = None

    def __fspath__(self) -> str:
        return str(self.path)

    def __len__(self) -> int:
        return self.spec.splits[self.split]

    @property
    def ids(self) -> list[str]:
        """The samples' ids, in order."""
        return list(self.column("id"))

    @property
    def file_names(self) -> list[str]:
        """The files of a user's own images, such as ``cats/0012.jpg``, in order; none of other data sets."""
        return list(self.column(schema.FILE_NAME)) if self.manifest.own_images else []

    def index(self, id: str) -> int:
        """The index of the sample with this id, or of the imported image with this file name."""
        for names in (self.ids, self.file_names):
            if id in names:
                return names.index(id)
        first, last = self.ids[0], self.ids[-1]
        raise SalgenError(f"{self.name} has no sample {id!r} in split {self.split!r}: it has {first} to {last}")

    @property
    def clusters(self) -> list[str]:
        """The samples' clusters, in order: samples of one cluster are not independent."""
        return list(self.column("cluster"))

    def __repr__(self) -> str:
        size, classes = "x".join(map(str, self.spec.image_size)), len(self.tasks[self.manifest.default_task])
        counted = "samples" if self.manifest.multi_label else "images"
        return f"Dataset({self.name!r}, split={self.split!r}, {len(self)} {counted}, {size}, {classes} classes)"

    @overload
    def __getitem__(self, index: int | str) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | str | slice) -> Item | list[Item]:
        """One sample, by its index or id, or a list of the samples of a slice.

        Returns
        -------
        Of each sample ``id``; of imported images ``file_name``; ``image`` float32 (C, H, W) in [0, 1]; each task's
        class number; of tasks with several classes in an image ``<task>_present``, bool (K,); ``mask`` bool (H, W);
        ``alternative_masks`` bool (k, H, W); ``regions``, name to bool (H, W); ``twin`` as the image, or None;
        ``recipe``; where it is known ``attribution``, float32 (K, rows, columns). Its method ``show()`` gives a
        picture of image, mask and twin.

        Raises
        ------
        IndexError
            If the index is out of range.
        SalgenError
            If no sample has this id.
        """
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        batch = self._one(self.index(index) if isinstance(index, str) else index)
        twin = batch.twins[0]  # first: a rendered image is painted together with its twin
        return Item(
            {
                "id": batch.ids[0],
                **({schema.FILE_NAME: batch.file_names[0]} if self.manifest.own_images else {}),
                "image": batch.images[0],
                **{task: int(batch.classes(task)[0]) for task in self.tasks},
                **{schema.present_column(task): batch.present(task)[0] for task in self.manifest.multi_label},
                "mask": batch.masks[0],
                "alternative_masks": batch.alternatives[0],
                "regions": {name: masks[0] for name, masks in batch.regions.items()},
                "twin": twin,
                "recipe": batch.recipes[0],
                **({"attribution": batch.attributions[0]} if self.manifest.attribution else {}),
            }
        )

    def to_torch(self, task: str | None = None) -> Pairs:
        """The split as pairs of an image and its class, which a ``torch.utils.data.DataLoader`` takes as they are.

        Parameters
        ----------
        task
            The default task if None.

        Returns
        -------
        A sequence of (image float32 (C, H, W) in [0, 1], class number); of a task with several classes in an image the
        second is float32 (K,), 1 for those that are present. A DataLoader makes tensors of them.

        Raises
        ------
        SalgenError
            If there is no such task.
        """
        return Pairs(self, task)

    def batches(self, size: int, indices: Sequence[int] | None = None) -> Iterator[Batch]:
        """Batches of up to `size` samples, in the order of `indices` or of the split.

        Memory is bounded by the batch; indices in rising order read each file once.
        """
        if size < 1:
            raise SalgenError(f"batch size {size}: must be 1 or more")
        order = range(len(self)) if indices is None else indices
        for start in range(0, len(order), size):
            yield self._as_batch(self._rows(order[start : start + size]))

    def images(self) -> NDArray[Any]:
        """All images, uint8 or uint16 (N, C, H, W)."""
        height, width = self.spec.image_size
        kind = np.uint8 if self.spec.bit_depth == 8 else np.uint16
        result = np.empty((len(self), self.manifest.channels, height, width), dtype=kind)
        start = 0
        for batch in self._pieces("image"):
            result[start : start + len(batch)] = batch.levels()
            start += len(batch)
        return result

    def column(self, name: str) -> list[str] | NDArray[Any]:
        """A column without decoding images: texts as a list, a task as int64 (N,), a factor as float64 (N,).

        The digests of pixels that are not stored take rendering.
        """
        if name in self.manifest.factors:
            return np.concatenate([schema.factor_values(table["factors"], name) for table in self._tables(["factors"])])
        if name in self.tasks:
            return np.concatenate([self._as_batch(table).classes(name) for table in self._tables(["id", name])])
        texts = [column.name for column in schema.columns(self.manifest) if column.kind == "text"]
        if name not in texts:
            raise unknown_name("column", name, [*texts, *self.tasks, *self.manifest.factors])
        if name == "pixels_sha256" and self.manifest.recipes_only:
            return [digest for batch in self._pieces(name) for digest in batch.pixel_digests]
        return [text for table in self._tables([name]) for text in table[name].to_pylist()]

    def classes_present(self, task: str) -> NDArray[np.bool_]:
        """The classes of a task that each image shows, bool (N, K), without decoding images."""
        column = schema.present_column(task) if task in self.manifest.multi_label else task
        return np.concatenate([self._as_batch(table).present(task) for table in self._tables(["id", column])])

    def present(self, region: str, first: int | None = None) -> NDArray[np.bool_]:
        """True for each sample, or each of the `first` so many, in which a region has any pixel, bool (N,)."""
        column = next(column for column, name in schema.mask_columns(self.manifest).items() if name == region)
        return np.concatenate([batch.region(region).any(axis=(1, 2)) for batch in self._pieces(column, first)])

    def of_split(self, split: str) -> Dataset:
        """Another split of the same data set, with the same source."""
        _check_split(self.path, self.manifest, split)
        dataset = Dataset(self.path, self.manifest, split, self.source)
        dataset._generator = self._generator
        return dataset

    def generator(self) -> Generator:
        """The generator that renders the pictures of a data set of recipes only; opened once."""
        if self._generator is None:
            try:
                self._generator = generator_of(self.spec, self.source)
            except SalgenError as error:
                raise SalgenError(f"{self.path} holds recipes only, which cannot be rendered here: {error}") from None
        return self._generator

    def __getstate__(self) -> dict[str, Any]:
        bare = self._generator and replace(self._generator)  # each process prepares the material
        return {**vars(self), "_groups": {}, "_generator": bare}

    def _one(self, index: int) -> Batch:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"index {index} of a split of {len(self)} samples")
        return self._as_batch(self._rows([place]))

    def _pieces(self, column: str, first: int | None = None) -> Iterator[Batch]:
        """The split, or the first samples of it, in order, with what is needed to see one column's pictures."""
        remaining = len(self) if first is None else min(first, len(self))
        for table in self._tables(["id", "recipe" if self.manifest.recipes_only else column]):
            for start in range(0, min(table.num_rows, remaining), AT_A_TIME):
                yield self._as_batch(table.slice(start, min(AT_A_TIME, remaining - start)))
            remaining -= table.num_rows
            if remaining <= 0:
                return

    def _tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns, one row group after the other."""
        for shard in self._shards:
            file = open_shard(self.path, shard, self._schema, self.manifest.rows_per_group)
            for group in range(file.num_row_groups):
                yield read_group(self.path / shard.path, file, group, names)

    def _as_batch(self, rows: pa.Table) -> Batch:
        if self.manifest.recipes_only:
            return RenderedBatch(rows, self.path, self.manifest, self.generator)
        return Batch(rows, self.path, self.manifest)

    def _rows(self, indices: Sequence[int]) -> pa.Table:
        """The rows of some samples, in the order asked for."""
        shard_size, group_size = self.manifest.samples_per_shard, self.manifest.rows_per_group
        shards, rows = np.divmod(np.asarray(indices, dtype=np.int64), shard_size)
        groups, rows = np.divmod(rows, group_size)
        if len(rows) == 1:
            return self._group(int(shards[0]), int(groups[0])).slice(int(rows[0]), 1)
        tables, places = [], []
        for shard, group in dict.fromkeys(zip(shards.tolist(), groups.tolist(), strict=True)):
            members = np.flatnonzero((shards == shard) & (groups == group))
            tables.append(self._group(shard, group).take(rows[members]))
            places.append(members)
        return pa.concat_tables(tables).take(np.argsort(np.concatenate(places)))

    def _group(self, shard: int, group: int) -> pa.Table:
        """A row group; those read last are kept."""
        if (shard, group) not in self._groups:
            entry = self._shards[shard]
            file = open_shard(self.path, entry, self._schema, self.manifest.rows_per_group)
            rows = read_group(self.path / entry.path, file, group, self._stored)
            while self._groups and (len(self._groups) + 1) * rows.nbytes > CACHED_BYTES:  # groups are about as large
                del self._groups[next(iter(self._groups))]
            self._groups[shard, group] = rows
        return self._groups[shard, group]


class Pairs(Sequence[tuple[Float32, Any]]):
    """Images and classes; see :meth:`Dataset.to_torch`."""

    def __init__(self, dataset: Dataset, task: str | None) -> None:
        self.dataset = dataset
        self.task = dataset.manifest.default_task if task is None else task
        if self.task not in dataset.tasks:
            raise unknown_name(f"task of {dataset.path}", self.task, dataset.tasks)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        batch = self.dataset._one(index)
        several = self.task in self.dataset.manifest.multi_label
        label = batch.present(self.task)[0].astype(np.float32) if several else int(batch.classes(self.task)[0])
        return batch.images[0], label


def _check_split(folder: Path, manifest: Manifest, split: str) -> None:
    if split not in manifest.splits:
        raise unknown_name(f"split of {folder}", split, manifest.splits)
    missing = [shard.path for shard in shards_of(manifest, split) if not (folder / shard.path).is_file()]
    if missing:
        raise SalgenError(f"{folder / missing[0]} is missing: the same 'salgen make' writes it again")
