"""Patterns: for every unit of a network, the direction in its input that its output varies with."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Patterns:
    """The patterns of one network, fitted to one set of images.

    Attributes
    ----------
    by_map
        Per linear map, in the order of calls: float64, shaped as its weights.
    degenerate
        Per linear map: how many units never fired and have a zero pattern.
    """

    by_map: tuple[Tensor, ...]
    degenerate: tuple[int, ...]
