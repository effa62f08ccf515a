"""From a raw attribution to a saliency map: channels to one, native resolution to the image's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from salgen.errors import unknown_name

if TYPE_CHECKING:
    from torch import Tensor

REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {  # (n, C, h, w) to (n, h, w)
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
    """`name`, if it is a reduction."""
    if name not in REDUCTIONS:
        raise unknown_name("reduction", name, [*REDUCTIONS, NATIVE])
    return name


def as_saliency(raw: Tensor, reduction: str | None, size: Sequence[int]) -> Tensor:
    """Raw attributions (n, C, h, w) as maps (n, H, W) of the image's size; (n, C, H, W) without a reduction."""
    if reduction is None:
        return resize(raw, size)
    return resize(REDUCTIONS[check_reduction(reduction)](raw)[:, None], size)[:, 0]


def resize(maps: Tensor, size: Sequence[int]) -> Tensor:
    """(n, C, h, w) to (n, C, H, W), bilinearly with ``align_corners=False``; untouched at equal size.

    To rounding ``torch.nn.functional.interpolate``, which makes small differences where there are
    none. Here equal neighbours give exactly their value, what lies between two values stays there
    and in their order.
    """
    return _resize_axis(2, _resize_axis(3, maps, size[1]), size[0])


def _resize_axis(axis: int, maps: Tensor, count: int) -> Tensor:
    """Maps with `count` pixels along an axis: near + share (far - near), with a share of one half at most."""
    if maps.shape[axis] == count:
        return maps
    near, far, share = (place.to(maps.device) for place in _neighbours(maps.shape[axis], count))
    start = maps.index_select(axis, near)
    shape = [-1 if axis == k else 1 for k in range(4)]
    return maps.index_select(axis, far).sub_(start).mul_(share.to(maps).view(shape)).add_(start)


def _neighbours(source_count: int, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The nearer and the farther of `count` pixels' two neighbours among `source_count`, and the farther's share.

    Pixel i is centred at (i + 1/2) source_count / count - 1/2, here in units of 1 / (2 count), without rounding.
    """
    import torch

    unit = 2 * count
    centres = ((2 * torch.arange(count) + 1) * source_count - count).clamp(min=0)
    low, past = centres // unit, centres % unit
    high = (low + 1).clamp(max=source_count - 1)
    nearer_low = past <= count
    share = torch.where(nearer_low, past, unit - past).double() / unit
    return torch.where(nearer_low, low, high), torch.where(nearer_low, high, low), share
