"""Base of data sets that are made from the images of another one, and that one as their source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.generators.interfaces import GeneratorPlugin
from salgen.parameters import param
from salgen.sources import DATA_SET


@dataclass(frozen=True, eq=False)
class Images:
    """A split in memory."""

    levels: NDArray[Any]  # images, uint8 or uint16 (N, H, W, C)
    labels: NDArray[np.int64]  # their classes, int64 (N,)
    clusters: list[str]  # names of their clusters: those of one are not independent

    @cached_property
    def by_class(self) -> dict[int, NDArray[np.int64]]:
        """Class to the places of its images, int64 (n,); only classes that there are."""
        return {int(label): np.flatnonzero(self.labels == label) for label in np.unique(self.labels)}


@dataclass(frozen=True, eq=False)
class SalgenData:
    """The images of a data set as a source, with the classes of its first task."""

    dataset: Dataset  # any of its splits
    name: str  # what it is, and the name of its generator
    digest: str  # the fingerprint of its specification, on which every pixel depends
    license: str  # as the data set states it, and so are the next ones
    notes: str
    redistributable: bool
    classes: tuple[str, ...]  # the first task's
    sizes: Mapping[str, int]  # split to the number of its images
    _read: dict[str, Images] = field(default_factory=dict, repr=False)

    def load(self, split: str) -> Images:
        """A split, read when it is first asked for."""
        if split not in self._read:
            data = self.dataset.of_split(split)
            labels = np.asarray(data.column(data.manifest.default_task))
            self._read[split] = Images(data.images().transpose(0, 2, 3, 1), labels, data.clusters)
        return self._read[split]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_read": {}}  # each process reads for itself


@dataclass(frozen=True)
class Derived(GeneratorPlugin):
    """Base: its source is a data set of salgen whose images show one class, and each split draws on the same split."""

    stand_in: ClassVar[str] = ""
    takes: ClassVar[str] = "DATA, a data set of salgen"

    image_size: tuple[int, int] = param((0, 0), "height and width in pixels: they follow from the source", low=0)
    bit_depth: int = param(0, "bits per channel: the source's", choices=(0, 8, 16))
    classes: tuple[str, ...] = param((), "the classes of the source")

    def open_source(self, source: str) -> SalgenData:
        """The data set in a folder or an archive."""
        dataset = open_dataset(Path(source).expanduser())
        if dataset.manifest.default_task in dataset.manifest.multi_label:
            raise SalgenError(f"{source}: its images show several classes; {self.name} takes those that show one")
        if not dataset.manifest.pixels:
            raise SalgenError(f"{source} was published without pixels: make it again from your own copy of its source")
        stated, classes = dataset.manifest, dataset.tasks[dataset.manifest.default_task]
        about = stated.license, stated.notes, stated.redistributable, classes, dict(dataset.spec.splits)
        return SalgenData(dataset, f"{DATA_SET} {dataset.spec.generator}", dataset.fingerprint, *about)

    def available(self, material: SalgenData) -> Mapping[str, int]:
        """The number of images of each split of the source."""
        return material.sizes
