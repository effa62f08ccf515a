"""Outside material that generators draw on: brain volumes, photographs, objects, scenes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from salgen.files import sha256_of


class Source(Protocol):
    """Named items with a digest. It is injected into a generator and never stored in a spec by path.

    Attributes
    ----------
    name
        What the spec calls it: ``"mni152"``, ``"volumes"``.
    digest
        SHA-256 over sorted relative names and contents, see :func:`digest_of`.
    licence
        The licence of the material as its publisher states it.
    notes
        What a reader of the dataset card must know about it, in sentences.
    """

    @property
    def name(self) -> str:
        """The source's name."""
        ...

    @property
    def digest(self) -> str:
        """The content's digest."""
        ...

    @property
    def licence(self) -> str:
        """The material's licence."""
        ...

    @property
    def notes(self) -> str:
        """Sentences for the dataset card."""
        ...

    def names(self) -> list[str]:
        """The items' names, sorted."""
        ...

    def split_of(self, name: str) -> str | None:
        """The split that an item belongs to, or None where all splits share it."""
        ...

    def load(self, name: str) -> Any:
        """One item; what it is depends on the source."""
        ...


def digest_of(files: Iterable[tuple[str, Path]]) -> str:
    """SHA-256 over the sorted names of some files and their contents' SHA-256."""
    total = hashlib.sha256()
    for name, path in sorted(files):
        total.update(f"{name}\0{sha256_of(path)}\n".encode())
    return total.hexdigest()
