"""A batch of samples, whose images and masks are decoded or rendered when they are first used."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from salgen.datasets.format import png, schema
from salgen.datasets.format.manifest import Manifest
from salgen.errors import SalgenError
from salgen.generators.generator import Generator
from salgen.generators.interfaces import Attributed
from salgen.types import Float32, Float64, Mask, Recipe, Sample

Pair = tuple[Sample, NDArray[Any] | None]


class Batch:
    """Samples of one split.

    Images, masks and twins are decoded when they are first used. `rows` is the stored table, and `region_names` are
    the regions. `exact` is true if images and twins are equal outside the masks.
    """

    def __init__(self, rows: pa.Table, folder: Path, manifest: Manifest) -> None:
        self.rows = rows
        self._folder = folder
        self._manifest = manifest
        self.region_names = manifest.regions
        self.exact = manifest.exact
        self._decoded: dict[str, Mask] = {}

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @cached_property
    def ids(self) -> list[str]:
        """The samples' names."""
        return [str(name) for name in self.rows["id"].to_pylist()]

    @cached_property
    def clusters(self) -> list[str]:
        """The samples' clusters: those of one are not independent."""
        return [str(name) for name in self.rows["cluster"].to_pylist()]

    @property
    def file_names(self) -> list[str]:
        """The names of the images' files, where they are a user's own."""
        return [str(name) for name in self.rows[schema.FILE_NAME].to_pylist()]

    @cached_property
    def images(self) -> Float32:
        """float32 (N, C, H, W) in [0, 1]."""
        return to_unit(self.levels())

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """int64 (N,): classes of the default task."""
        return self.classes(self._manifest.default_task)

    @cached_property
    def masks(self) -> Mask:
        """Ground truth of the default task, bool (N, H, W)."""
        return self.region(self._manifest.targets[self._manifest.default_task])

    @cached_property
    def alternatives(self) -> list[Mask]:
        """For each sample the further masks that count as correct, bool (k, H, W)."""
        pictures = self.rows["alternative_masks"].to_pylist()
        return [self._masks([png.decode_mask(one["bytes"]) for one in of_sample]) for of_sample in pictures]

    @cached_property
    def acceptable(self) -> Mask:
        """Bool (N, K, H, W): `masks`, then the samples' further masks that count as correct.

        A sample with fewer than K has empty ones after them.
        """
        masks = np.zeros((len(self), 1 + max(map(len, self.alternatives)), *self._manifest.spec.image_size), dtype=bool)
        masks[:, 0] = self.masks
        for row, alternatives in enumerate(self.alternatives):
            masks[row, 1 : 1 + len(alternatives)] = alternatives
        return masks

    @property
    def regions(self) -> Mapping[str, Mask]:
        """Region name to bool (N, H, W)."""
        return {name: self.region(name) for name in self.region_names}

    @cached_property
    def twins(self) -> list[Float32 | None]:
        """float32 (C, H, W) for each sample, or None where it has no twin."""
        return [None if levels is None else to_unit(levels) for levels in self.twin_levels()]

    @cached_property
    def recipes(self) -> list[Recipe]:
        """The recipes that the samples were rendered from."""
        return [schema.recipe_from_text(text) for text in self.rows["recipe"].to_pylist()]

    @cached_property
    def factors(self) -> dict[str, Float64]:
        """Name to float64 (N,): the numbers to filter by, NaN where one does not apply."""
        return {name: schema.factor_values(self.rows["factors"], name) for name in self._manifest.factors}

    @cached_property
    def attributions(self) -> Float32:
        """Exact attributions of the first task's K classes, signed float32 (N, K, rows, columns)."""
        values = self.rows["attribution"].combine_chunks()
        while not pa.types.is_floating(values.type):
            values = values.flatten()
        numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float32)
        return numbers.reshape(len(self), *self._manifest.attribution)

    @cached_property
    def pixel_digests(self) -> list[str]:
        """SHA-256 of the images' dtype, shape and pixels."""
        return [str(digest) for digest in self.rows["pixels_sha256"].to_pylist()]

    def classes(self, task: str) -> NDArray[np.int64]:
        """int64 (N,): classes of a task."""
        return schema.class_numbers(self.rows[task])

    def present(self, task: str) -> Mask:
        """Bool (N, K): the classes of a task that each image shows; where it shows one, that is the sample's class."""
        if task in self._manifest.multi_label:
            return schema.class_sets(self.rows[schema.present_column(task)], len(self._manifest.tasks[task]))
        return np.asarray(self.classes(task)[:, np.newaxis] == np.arange(len(self._manifest.tasks[task])))

    def region(self, name: str) -> Mask:
        """One region of every sample, bool (N, H, W)."""
        if name not in self._decoded:
            self._decoded[name] = self._decode_region(name)
        return self._decoded[name]

    def _decode_region(self, name: str) -> Mask:
        column = next(column for column, region in schema.mask_columns(self._manifest).items() if region == name)
        return np.stack([png.decode_mask(data) for data in self._stored(column)])

    def levels(self) -> NDArray[Any]:
        """The images as stored: uint8 or uint16 (N, C, H, W)."""
        self._need_pixels()
        return np.stack([png.decode(data).transpose(2, 0, 1) for data in self._stored("image")])

    def twin_levels(self) -> list[NDArray[Any] | None]:
        """The twins as stored: uint8 or uint16 (C, H, W), or None."""
        self._need_pixels()
        return [None if data is None else png.decode(data).transpose(2, 0, 1) for data in self._stored("twin")]

    def _need_pixels(self) -> None:
        if not self._manifest.pixels:
            name = self._manifest.spec.generator
            raise SalgenError(
                f"{self._folder} was published without pixels: its README.md says how to make it again from your own "
                f"copy, by  salgen make {name} OUT --set source=PATH"
            )

    def _masks(self, masks: Sequence[Mask]) -> Mask:
        """Some masks, perhaps none, as bool (k, H, W)."""
        return np.array(masks, dtype=bool).reshape(-1, *self._manifest.spec.image_size)

    def _stored(self, column: str) -> list[Any]:
        """The encoded images of a column."""
        images: list[Any] = self.rows[column].combine_chunks().field("bytes").to_pylist()
        return images


class RenderedBatch(Batch):
    """As :class:`Batch`, of a data set that holds recipes only.

    `renderer` returns the generator; it is called when a picture is first used.
    """

    def __init__(self, rows: pa.Table, folder: Path, manifest: Manifest, renderer: Callable[[], Generator]) -> None:
        super().__init__(rows, folder, manifest)
        self._renderer = renderer

    @cached_property
    def alternatives(self) -> list[Mask]:
        """For each sample the further masks that count as correct, bool (k, H, W)."""
        return [self._masks(sample.alternatives) for sample in self._samples]

    @cached_property
    def attributions(self) -> Float32:
        """Exact attributions of the first task's K classes, signed float32 (N, K, rows, columns)."""
        plugin = self._renderer().plugin
        assert isinstance(plugin, Attributed)  # the manifest says so
        return np.stack([plugin.attribution(recipe.parameters) for recipe in self.recipes])

    @cached_property
    def pixel_digests(self) -> list[str]:
        """SHA-256 of the images' dtype, shape and pixels."""
        return [schema.pixels_digest(sample.image) for sample in self._samples]

    def _decode_region(self, name: str) -> Mask:
        return np.stack([sample.regions[name] for sample in self._samples])

    def levels(self) -> NDArray[Any]:
        """The images: uint8 or uint16 (N, C, H, W)."""
        return np.stack([sample.image.transpose(2, 0, 1) for sample in self._samples])

    def twin_levels(self) -> list[NDArray[Any] | None]:
        """The twins: uint8 or uint16 (C, H, W), or None."""
        return [None if twin is None else twin.transpose(2, 0, 1) for _, twin in self._pairs]

    @cached_property
    def _pairs(self) -> list[Pair]:
        return self._render(twins=self._manifest.twins)

    @cached_property
    def _samples(self) -> list[Sample]:
        """The samples; if twins are asked for first, both are painted at once."""
        pairs = self._pairs if "_pairs" in vars(self) else self._render(twins=False)
        return [sample for sample, _ in pairs]

    def _render(self, *, twins: bool) -> list[Pair]:
        return list(self._renderer().render_pairs(self.recipes, twins))


def to_unit(levels: NDArray[Any]) -> Float32:
    """Integer levels as float32 in [0, 1]."""
    return levels.astype(np.float32) / np.float32(np.iinfo(levels.dtype).max)
