"""Metrics: what makes a saliency map right, one definition each.

A metric plug-in is a frozen dataclass with the members of :class:`Metric`. It takes one map against
one mask and never an absolute value: how channels and signs become a map is the method's reduction.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from salgen.evaluation.ranking import Ranking

EMPTY_MASK = "empty_mask"
TRIVIAL_FULL_MASK = "trivial_full_mask"
NON_FINITE_MAP = "non_finite_map"
ZERO_ENERGY = "zero_energy"
TOO_FEW_NEGATIVES = "too_few_negatives"

MASK_FAULTS = frozenset({EMPTY_MASK, TRIVIAL_FULL_MASK})  # these are no map's doing


class Metric(Protocol):
    """What a registered metric provides; its dataclass fields are its parameters.

    Attributes
    ----------
    name, aliases
        Registered name, and other names that :func:`salgen.score` takes.
    kind
        ``"sample"``: one map at a time; others are ``"pair"`` and ``"dataset"``.
    needs
        What must be there besides the map: ``"mask"`` (at least one pixel of it in the scored
        region), ``"negatives"`` (at least one pixel outside it), and of ``"twin"``, ``"model"``,
        ``"image"``, ``"target"`` those that it takes as keyword arguments.
    higher_is_better, bounds
        Direction, and the smallest and largest value that any sample can have.
    worst
        What a map that failed gets in `Scores.worst_case`.
    best_of
        Whether several acceptable masks are scored by the best of them.
    reference
        Paper and equation.
    version
        Changes whenever a value does.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]]
    kind: ClassVar[str]
    needs: ClassVar[frozenset[str]]
    higher_is_better: ClassVar[bool]
    bounds: ClassVar[tuple[float, float]]
    worst: ClassVar[float]
    best_of: ClassVar[bool]
    reference: ClassVar[str]
    version: ClassVar[str]

    def __call__(self, ranking: Ranking, *args: Any, **evidence: Any) -> tuple[float, str]:
        """The value, and why it is undefined (NaN) or ""; the map is finite and what is needed is there."""
        ...

    def ceiling(self, p: int, n: int) -> float:
        """The best value for a mask of p pixels with n pixels outside it: what the mask itself, as a map, gets."""
        ...
