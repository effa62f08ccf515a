"""A batch of samples whose pictures are not stored: they are rendered when they are first used."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import pixels_digest
from salgen.datasets.reading.batch import Batch
from salgen.errors import SalgenError
from salgen.generators.factory import generator_of
from salgen.generators.generator import Generator
from salgen.generators.interfaces import Attributed
from salgen.types import Float32, Mask, Sample

Pair = tuple[Sample, NDArray[Any] | None]


class RenderedBatch(Batch):
    """As :class:`~salgen.datasets.reading.batch.Batch`, of a data set that holds recipes only.

    `renderer` returns the generator; it is called when a picture is first used.
    """

    def __init__(self, rows: pa.Table, folder: Path, manifest: Manifest, renderer: Callable[[], Generator]) -> None:
        super().__init__(rows, folder, manifest)
        self._renderer = renderer

    @cached_property
    def alternatives(self) -> list[Mask]:
        """For each sample the further masks that count as correct, bool (k, H, W)."""
        shape = self._manifest.spec.image_size
        return [np.array(sample.alternatives, dtype=bool).reshape(-1, *shape) for sample in self._samples]

    @cached_property
    def attributions(self) -> Float32:
        """Exact attributions of the first task's K classes, signed float32 (N, K, rows, columns)."""
        plugin = self._renderer().plugin
        assert isinstance(plugin, Attributed)  # the manifest says so
        return np.stack([plugin.attribution(recipe.parameters) for recipe in self.recipes])

    @cached_property
    def pixel_digests(self) -> list[str]:
        """SHA-256 of the images' dtype, shape and pixels."""
        return [pixels_digest(sample.image) for sample in self._samples]

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


def renderer_of(folder: Path, manifest: Manifest, source: str | None) -> Generator:
    """The generator that renders a data set of recipes only."""
    try:
        return generator_of(manifest.spec, source)
    except SalgenError as error:
        raise SalgenError(f"{folder} holds recipes only, which cannot be rendered here: {error}") from None
