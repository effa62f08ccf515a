"""The specification of a data set: everything that determines its pixels, and nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any
from salgen.errors import SalgenError, reason
from salgen.parameters import canonical_json

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
        if not _is_whole(self.seed) or self.seed < 0:
            raise SalgenError(f"seed = {self.seed!r}: must be 0 or more, a whole number")
        if not all(_is_whole(side) and 1 <= side <= LARGEST_SIDE for side in self.image_size):
            raise SalgenError(f"image_size = {self.image_size}: must be 1 to {LARGEST_SIDE} pixels along each axis")
        if not self.splits or not isinstance(self.splits, dict):
            raise SalgenError("a data set needs at least one split")
        for name, count in self.splits.items():
            if not name.isidentifier() or not name.isascii() or name.startswith("_"):
                raise SalgenError(f"split name {name!r}: use {SPLIT_NAME_RULE}")
            if not _is_whole(count) or count < 1:
                raise SalgenError(f"split {name!r} has {count!r} samples: must be 1 or more, a whole number")

    def to_json(self) -> dict[str, Any]:
        """The spec as JSON values, which :meth:`from_json` reads."""
        return {**asdict(self), "image_size": list(self.image_size)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> DatasetSpec:
        """The spec that :meth:`to_json` wrote."""
        try:
            height, width = values["image_size"]
            spec = cls(**{**values, "image_size": (int(height), int(width))})
            canonical_json(spec.to_json())
        except (SalgenError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise SalgenError(f"not a salgen data set description: {reason(error)}") from None
        return spec

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON, hexadecimal."""
        return hashlib.sha256(canonical_json(self.to_json()).encode()).hexdigest()


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
