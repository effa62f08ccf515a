"""What metrics declare unless they say otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class MaskMetric:
    """A metric of single maps against a mask: from 0 to 1, the higher the better."""

    aliases: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str] = "sample"
    needs: ClassVar[frozenset[str]] = frozenset({"mask"})
    higher_is_better: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    worst: ClassVar[float] = 0.0
    best_of: ClassVar[bool] = False
    version: ClassVar[str] = "1"

    def ceiling(self, p: int, n: int) -> float:
        """The value of the mask itself as a map, for p mask pixels and n others: 1."""
        return 1.0
