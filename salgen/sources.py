"""Outside material that generators draw on: brain volumes, photographs, objects, scenes."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from salgen.errors import SalgenError
from salgen.files import sha256_of
from salgen.progress import tracked

MANY = 1000  # files: reading more takes a while
OWN_COPY = "own copy"  # the name of every importer's source: a copy of a published data set
DATA_SET = "data set"  # the name of a derived data set's source: a data set by salgen, and its generator


class Source(Protocol):
    """Outside material with a digest. It is injected into a generator and never stored in a spec by path."""

    @property
    def name(self) -> str:
        """Its name in the spec: ``"mni152"``, ``"volumes"``."""

    @property
    def digest(self) -> str:
        """SHA-256 over sorted relative names and contents, see :func:`digest_of`."""

    @property
    def license(self) -> str:
        """The license of the material as its publisher states it."""

    @property
    def notes(self) -> str:
        """Sentences for the dataset card."""

    @property
    def redistributable(self) -> bool:
        """Whether anybody may pass on pixels made from it; else data sets are published as recipes and masks."""


@dataclass(frozen=True, eq=False)
class Files:
    """Named files as a source, which subclasses `load`."""

    name: str  # as every :class:`Source` has it, and so are `license`, `notes` and `redistributable`
    license: str
    notes: str
    files: Mapping[str, Path]  # item name to file
    splits: Mapping[str, str]  # item name to split; an item that all splits share has none
    redistributable: bool = False

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names, splits and contents."""
        try:
            return digest_of((f"{self.splits.get(name, '')}:{name}", path) for name, path in self.files.items())
        except OSError as error:
            raise SalgenError(f"{error.filename}: cannot be read ({error.strerror})") from None

    def names(self) -> list[str]:
        """The items' names, sorted."""
        return sorted(self.files)

    def split_of(self, name: str) -> str | None:
        """The split that an item belongs to, or None where all splits share it."""
        return self.splits.get(name)

    def load(self, name: str) -> Any:
        """One item."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Nothing:
    """The source of images computed from random numbers alone."""

    name: str = ""
    digest: str = ""
    license: str = ""
    notes: str = ""
    redistributable: bool = True


def digest_of(files: Iterable[tuple[str, Path]]) -> str:
    """SHA-256 over the sorted names of some files and their contents' SHA-256."""
    total = hashlib.sha256()
    named = sorted(files)
    for name, path in named if len(named) < MANY else tracked("reading the source", named, "files"):
        total.update(f"{name}\0{sha256_of(path)}\n".encode())
    return total.hexdigest()
