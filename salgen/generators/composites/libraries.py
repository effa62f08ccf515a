"""Pictures of classes, divided among splits: what composites are made of.

A library is built once and then read picture by picture. A plug-in of the registry
:data:`~salgen.registry.LIBRARIES` supplies the pictures, drawn or cut out of photographs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol
import numpy as np
from numpy.typing import NDArray
from salgen.registry import LIBRARIES


class Library(Hashable, Protocol):
    """Pictures by split, class and number; a key for what is made of them."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the pictures, in the order of the labels."""

    @property
    def digest(self) -> str:
        """SHA-256 of all pictures with their places."""

    def count(self, split: str, name: str) -> int:
        """Number of pictures of a class in a split; a split of another name has those of ``test``."""

    def of(self, classes: tuple[str, ...]) -> Library:
        """The same pictures, of these classes alone and in this order; the digest stays that of all."""

    def size(self, split: str, name: str, number: int) -> tuple[int, int]:
        """(h, w) of one picture, at no cost: recipes are drawn from it."""

    def load(self, split: str, name: str, number: int) -> NDArray[np.uint8]:
        """One picture, uint8 (h, w, 3), or (h, w, 4) with straight alpha; not to be written to."""


@dataclass(frozen=True, eq=False)
class Composite:
    """The source of composites: objects with alpha, and scenes."""

    # name, license, notes, redistributable: as every `Source` has them
    name: str
    license: str
    notes: str
    redistributable: bool
    objects: Library
    scenes: Library
    # candidate_objects, candidate_scenes: the classes before a filter; empty if there is no filter
    candidate_objects: tuple[str, ...] = ()
    candidate_scenes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over both libraries."""
        return hashlib.sha256(f"{self.objects.digest}\n{self.scenes.digest}".encode()).hexdigest()


def open_library(name: str, *wanted: Any) -> Composite:
    """The pictures of a library by its registered name."""
    composite: Composite = LIBRARIES.load(name)(*wanted).open()
    return composite
