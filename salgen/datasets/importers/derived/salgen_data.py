"""A salgen data set as the source of another one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.generators.factory import no_copy
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
    """The images of a data set, with the classes of its first task."""

    dataset: Dataset  # any of its splits
    _read: dict[str, Images] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, plugin: Any, path: str | None) -> SalgenData:
        """The data set in a folder or an archive."""
        if not path:
            raise no_copy(plugin)
        dataset = open_dataset(Path(path).expanduser())
        task = dataset.manifest.default_task
        if task in dataset.manifest.multi_label:
            raise SalgenError(f"{path}: its images show several classes; {plugin.name} takes those that show one")
        if not dataset.manifest.pixels:
            raise SalgenError(f"{path} was published without pixels: make it again from your own copy of its source")
        return cls(dataset)

    @property
    def name(self) -> str:
        """What it is, and the name of its generator."""
        return f"{DATA_SET} {self.dataset.spec.generator}"

    @property
    def digest(self) -> str:
        """The fingerprint of its specification, on which every pixel depends."""
        return self.dataset.fingerprint

    @property
    def licence(self) -> str:
        """As the data set states it."""
        return self.dataset.manifest.licence

    @property
    def notes(self) -> str:
        """As the data set states them."""
        return self.dataset.manifest.notes

    @property
    def redistributable(self) -> bool:
        """As of the data set."""
        return self.dataset.manifest.redistributable

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of its first task."""
        return self.dataset.tasks[self.dataset.manifest.default_task]

    @property
    def sizes(self) -> dict[str, int]:
        """Split to the number of its images."""
        return dict(self.dataset.spec.splits)

    def names(self) -> list[str]:
        """The splits."""
        return sorted(self.sizes)

    def split_of(self, name: str) -> str:
        """The split itself."""
        return name

    def load(self, name: str) -> Images:
        """A split, read when it is first asked for."""
        if name not in self._read:
            split = self.dataset.of_split(name)
            labels = np.asarray(split.column(split.manifest.default_task))
            self._read[name] = Images(split.images().transpose(0, 2, 3, 1), labels, split.clusters)
        return self._read[name]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_read": {}}  # each process reads for itself
