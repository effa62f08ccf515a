"""From a raw attribution to a saliency map: channels to one, native resolution to the image's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from salgen.errors import unknown_name

if TYPE_CHECKING:
    from torch import Tensor

REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "max_abs": lambda raw: raw.abs().amax(dim=1),
    "sum_abs": lambda raw: raw.abs().sum(dim=1),
    "sum": lambda raw: raw.sum(dim=1),
    "sum_pos": lambda raw: raw.clamp(min=0).sum(dim=1),
    "l2": lambda raw: raw.norm(dim=1),
    "abs": lambda raw: raw.sum(dim=1).abs(),
}
SIGNED = frozenset({"sum"})
NATIVE = "native"  # each method's own


def check_reduction(name: str) -> str:
    """`name`, if it is a reduction.

    Raises
    ------
    SalgenError
        If it is not.
    """
    if name not in REDUCTIONS:
        raise unknown_name("reduction", name, [*REDUCTIONS, NATIVE])
    return name


def reduce_channels(raw: Tensor, name: str) -> Tensor:
    """(n, C, h, w) to (n, h, w): ``max_abs``, ``sum_abs``, ``sum``, ``sum_pos``, ``l2`` or ``abs`` = |sum|."""
    return REDUCTIONS[check_reduction(name)](raw)


def resize(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """(n, C, h, w) to (n, C, H, W), bilinearly with ``align_corners=False``; untouched at equal size."""
    if tuple(maps.shape[2:]) == size:
        return maps
    from torch.nn import functional

    return functional.interpolate(maps, size=size, mode="bilinear", align_corners=False)
