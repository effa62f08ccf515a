"""The specification of a data set: everything that determines its pixels, and nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any
from salgen.errors import SalgenError, reason
from salgen.parameters import at_least, canonical_json
from salgen.typed_json import from_json

LARGEST_SIDE = 1 << 16
SPLIT_NAME_RULE = "letters, digits and underscores, starting with a letter"


@dataclass(frozen=True)
class DatasetSpec:
    """The complete description of a generated data set. It never holds a path, a time or a machine."""

    # generator, generator_version: registered name, and the version that changes whenever its pixels do
    generator: str
    generator_version: str
    parameters: dict[str, Any]  # the generator's parameters as JSON values, `image_size` and `bit_depth` excepted
    splits: dict[str, int]  # split name to number of samples
    seed: int  # any non-negative integer
    image_size: tuple[int, int]  # (H, W) in pixels
    bit_depth: int  # 8 or 16
    # source, source_digest: name and SHA-256 of the outside material (brain volumes, photographs); the digest of no
    # material is the empty string
    source: str
    source_digest: str

    def __post_init__(self) -> None:
        at_least(0, self.seed, "seed")
        if not all(1 <= side <= LARGEST_SIDE for side in self.image_size):
            raise SalgenError(f"image_size = {self.image_size}: must be 1 to {LARGEST_SIDE} pixels along each axis")
        if not self.splits:
            raise SalgenError("a data set needs at least one split")
        for name, count in self.splits.items():
            if not is_split_name(name):
                raise SalgenError(f"split name {name!r}: use {SPLIT_NAME_RULE}")
            at_least(1, count, f"samples of split {name!r}")

    def to_json(self) -> dict[str, Any]:
        """The spec as JSON values, which :meth:`from_json` reads."""
        return {**asdict(self), "image_size": list(self.image_size)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> DatasetSpec:
        """The spec that :meth:`to_json` wrote."""
        try:
            spec: DatasetSpec = from_json(values, cls)
            canonical_json(spec.to_json())
        except (SalgenError, TypeError, ValueError, RecursionError) as error:
            raise SalgenError(f"not a salgen data set description: {reason(error)}") from None
        return spec

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON, hexadecimal."""
        return hashlib.sha256(canonical_json(self.to_json()).encode()).hexdigest()


def is_split_name(name: str) -> bool:
    """Whether a split may be called so."""
    return name.isidentifier() and name.isascii() and not name.startswith("_")
