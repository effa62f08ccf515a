"""Base of data sets that are made from the images of another one, and that one as their source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.generators.interfaces import Edit, Rendered
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
    _read: dict[str, Images] = field(default_factory=dict, repr=False)

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
class Derived:
    """Base: its source is a data set of salgen whose images show one class, and each split draws on the same split."""

    name: ClassVar[str]
    default_source: ClassVar[str] = ""
    stand_in: ClassVar[str] = ""
    takes: ClassVar[str] = "DATA, a data set of salgen"
    valid_region: ClassVar[str | None] = None
    exact: ClassVar[bool] = True

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
        return SalgenData(dataset)

    def prepare(self, source: SalgenData) -> SalgenData:
        """The source itself, which reads a split when it is first asked for."""
        return source

    def available(self, material: SalgenData) -> Mapping[str, int]:
        """The number of images of each split of the source."""
        return material.sizes

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit:
        """The edit that gives the twin."""
        raise NotImplementedError

    def render(self, parameters: Mapping[str, Any], material: SalgenData, edit: Edit) -> Rendered:
        """The sample that the choices describe, with the edit applied."""
        raise NotImplementedError

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: SalgenData, twins: bool
    ) -> list[tuple[Rendered, NDArray[Any] | None]]:
        """Samples and their twins' images."""
        return [
            (
                self.render(parameters, material, Edit()),
                self.render(parameters, material, self.counterfactual(parameters)).image if twins else None,
            )
            for parameters in batch
        ]
