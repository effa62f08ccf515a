"""What a data set is: everything that determines its pixels, and nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from salgen.errors import SalgenError
from salgen.parameters import canonical_json

SPLIT_NAME_RULE = "letters, digits and underscores, starting with a letter"


@dataclass(frozen=True)
class DatasetSpec:
    """The complete description of a generated data set. It never holds a path, a time or a machine.

    Attributes
    ----------
    generator, generator_version
        Registered name, and the version that changes whenever its pixels do.
    parameters
        The generator's parameters as JSON values, `image_size` and `bit_depth` excepted.
    splits
        Split name to number of samples.
    seed
        Any non-negative integer.
    image_size
        (H, W) in pixels.
    bit_depth
        8 or 16.
    source, source_digest
        Name and SHA-256 of the outside material (brain volumes, photographs); the digest of no
        material is the empty string.
    """

    generator: str
    generator_version: str
    parameters: dict[str, Any]
    splits: dict[str, int]
    seed: int
    image_size: tuple[int, int]
    bit_depth: int
    source: str
    source_digest: str

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise SalgenError(f"seed = {self.seed}: must be 0 or more")
        if not self.splits:
            raise SalgenError("a data set needs at least one split")
        for name, count in self.splits.items():
            if not name.isidentifier() or not name.isascii() or name.startswith("_"):
                raise SalgenError(f"split name {name!r}: use {SPLIT_NAME_RULE}")
            if count < 1:
                raise SalgenError(f"split {name!r} has {count} samples: must be 1 or more")

    def to_json(self) -> dict[str, Any]:
        """JSON values; :meth:`from_json` gives the spec back."""
        return {**asdict(self), "image_size": list(self.image_size)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> DatasetSpec:
        """The spec that :meth:`to_json` wrote.

        Raises
        ------
        SalgenError
            If a key is missing, unknown, or of the wrong kind.
        """
        try:
            height, width = values["image_size"]
            return cls(**{**values, "image_size": (int(height), int(width))})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SalgenError(f"not a salgen data set description: {error}") from None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON, hexadecimal."""
        return hashlib.sha256(canonical_json(self.to_json()).encode()).hexdigest()
