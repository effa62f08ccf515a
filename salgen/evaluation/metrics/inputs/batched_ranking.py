"""Many maps ranked against their masks at once, on the device where they are: the same counts as Ranking's."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
import torch
from torch import Tensor
from salgen.evaluation.metrics.inputs.device_maps import SortedMaps
from salgen.evaluation.metrics.inputs.ranking import Cut, Levels


@dataclass(frozen=True, eq=False)
class BatchedRanking:
    """B maps, each ranked against its K acceptable masks within its scored region.

    Every method gives a tensor on the maps' device; a :class:`RankedMap` takes its number from the host's copy, made
    once. Maps are sorted once for all masks and regions. Values are compared in their own type, so counts equal those
    of :class:`~salgen.evaluation.metrics.inputs.ranking.Ranking`. That one is faster on a CPU: NumPy sorts values by
    vector instructions, PyTorch sorts indices too (docs/speed.md).
    """

    maps: SortedMaps  # (B, H, W)
    masks: Tensor  # bool (B, K, H, W), on the maps' device
    valid: Tensor | None = None  # bool (B, H, W) likewise, or None for the whole image
    _on_host: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def on_host(self, statistic: Callable[..., Tensor], *arguments: Any) -> Any:
        """What one of the methods gives, as nested lists by map and mask; transferred once."""
        key = (statistic, *arguments)
        if key not in self._on_host:
            self._on_host[key] = statistic(self, *arguments).tolist()
        return self._on_host[key]

    def p(self) -> Tensor:
        """Numbers of mask pixels, int64 (B, K)."""
        return self._truth.sum(dim=-1)

    def n(self) -> Tensor:
        """Numbers of pixels outside the mask, int64 (B, K)."""
        return self._others.sum(dim=-1)

    def finite(self) -> Tensor:
        """Whether every value in the scored region is finite, bool (B, K)."""
        finite = (self.maps.pixels.isfinite() | ~self._region).all(dim=1)
        return finite[:, None].expand(self.masks.shape[:2])

    def over_positives(self, term: Callable[[Levels], Tensor]) -> Tensor:
        """Sums over the mask pixels of a term of the counts at their values, float64 (B, K)."""
        levels = self._levels
        return torch.where(levels.positives > 0, term(levels), 0.0).sum(dim=-1)

    def cut(self, value: float | Tensor) -> Tensor:
        """Counts of a :class:`Cut` at one value, or at those of a tensor (B, K): int64 (B, K, 4)."""
        pixels = self.maps.pixels[:, None]
        values = torch.as_tensor(value, dtype=pixels.dtype, device=pixels.device)[..., None]
        above, tied = self._sums(pixels > values), self._sums(pixels == values)
        return torch.stack([above[..., 0], tied[..., 0], above[..., 1], tied[..., 1]], dim=-1)

    def cut_at_top(self) -> Tensor:
        """Counts at the largest values, int64 (B, K, 4)."""
        return self.cut(self._top.expand(self.masks.shape[:2]))

    def cut_at_pth_largest(self) -> Tensor:
        """Counts above and at the p-th largest values, int64 (B, K, 4)."""
        return self.cut(self._value_of_rank(self._truth | self._others, self.n()))

    def cut_at_negative(self, surpassing: Callable[[int], int]) -> Tensor:
        """Counts above and at the (surpassing(n) + 1)-th largest values outside the masks, int64 (B, K, 4)."""
        ranks = [[n - 1 - surpassing(n) for n in of_map] for of_map in self.on_host(BatchedRanking.n)]
        return self.cut(self._value_of_rank(self._others, torch.tensor(ranks, device=self.masks.device)))

    def above_scaled(self, threshold: float) -> Tensor:
        """Numbers of pixels in the mask and outside it whose scaled value is above a threshold, int64 (B, K, 2)."""
        return self._sums((self._scaled > threshold)[:, None])

    def above_share_of_top(self, threshold: float) -> Tensor:
        """Numbers of pixels in the mask and outside it above a share of the largest value, int64 (B, K, 2)."""
        return self._sums((self._in_units_of_the_top > threshold)[:, None])

    def masses(self) -> Tensor:
        """Sums of the positive values in the mask and outside it in units of the largest, float64 (B, K, 2)."""
        return self._sums(self._in_units_of_the_top[:, None])

    def scaled_sums(self) -> Tensor:
        """Sums of the scaled values in the mask and outside it, float64 (B, K, 2)."""
        return self._sums(self._scaled[:, None])

    @cached_property
    def boxed(self) -> BatchedRanking:
        """The same maps against the bounding boxes of the masks, their edges included."""
        truth = self._truth.view(self.masks.shape)
        rows, columns = (_filled(truth.any(dim=dim)) for dim in (3, 2))
        return BatchedRanking(self.maps, rows[..., :, None] & columns[..., None, :], self.valid)

    # On the device --------------------------------------------------------------------------------

    @cached_property
    def _region(self) -> Tensor:
        """The scored region, bool (B, P)."""
        return torch.ones_like(self.maps.pixels, dtype=torch.bool) if self.valid is None else self.valid.flatten(1)

    @cached_property
    def _truth(self) -> Tensor:
        """The masks within the scored region, bool (B, K, P)."""
        return self.masks.flatten(2) & self._region[:, None]

    @cached_property
    def _others(self) -> Tensor:
        """The pixels of the scored region outside the masks, bool (B, K, P)."""
        return self._region[:, None] & ~self.masks.flatten(2)

    @cached_property
    def _top(self) -> Tensor:
        """The largest values, (B, 1)."""
        return torch.where(self._region, self.maps.pixels, -torch.inf).amax(dim=1, keepdim=True)

    @cached_property
    def _scaled(self) -> Tensor:
        """(S - min S) / (max S - min S) over the scored region, float64 (B, P); 0 outside it, and for constant maps."""
        values = torch.where(self._region, self.maps.pixels, self._top).double()
        low, high = values.aminmax(dim=1, keepdim=True)
        scale = torch.where((high - low).isinf(), 0.5, 1.0)  # finite ends whose distance is not
        span = high * scale - low * scale
        return torch.where(self._region & (span > 0), (values * scale - low * scale) / span, 0.0)

    @cached_property
    def _in_units_of_the_top(self) -> Tensor:
        """The positive values over the largest, float64 (B, P); 0 elsewhere, and for maps without a positive value."""
        positive = (self.maps.pixels > 0) & (self._top > 0)
        return torch.where(positive, self.maps.pixels.double() / self._top.double(), 0.0)

    @property
    def _levels(self) -> Levels:
        """Counts at every place of the order, float64 (B, K, P), in which integers are exact up to 2**53."""
        begins, ends = (places[:, None].expand(self._truth.shape) for places in self.maps.ties)
        positives, negatives = self._ranks(self._truth), self._ranks(self._others)
        positives_below, negatives_below = positives.gather(2, begins), negatives.gather(2, begins)
        counts = (
            positives.diff(dim=2),
            negatives_below,
            negatives.gather(2, ends) - negatives_below,
            positives[..., -1:] - positives_below,
            negatives[..., -1:] - negatives_below,
        )
        return Levels(*(count.double() for count in counts))

    def _ranks(self, side: Tensor) -> Tensor:
        """Number of a side's pixels before each place of the order and after the last, int32 (B, K, P + 1)."""
        ordered = side.gather(2, self.maps.order[:, None].expand(side.shape))
        return torch.nn.functional.pad(ordered.cumsum(dim=2, dtype=torch.int32), (1, 0))

    def _value_of_rank(self, side: Tensor, ranks: Tensor) -> Tensor:
        """The value of a side's pixel of each rank (B, K) from 0 for the smallest; any value where there is none."""
        wanted = (ranks + 1).to(torch.int32)[..., None]
        places = (torch.searchsorted(self._ranks(side), wanted) - 1).clamp(0, side.shape[2] - 1)
        return self.maps.ascending.gather(1, places[..., 0])

    def _sums(self, numbers: Tensor) -> Tensor:
        """Sums of numbers, (B, 1 or K, P), over the masks and over the pixels outside them, (B, K, 2)."""
        sides = (self._truth, self._others)
        return torch.stack([torch.where(side, numbers, numbers.new_zeros(())).sum(dim=2) for side in sides], dim=-1)


@dataclass(frozen=True, eq=False)
class RankedMap:
    """One map of a batch under one of its masks, as metrics ask for it."""

    batch: BatchedRanking  # all of them
    # index, mask: the map's place among them, and the mask's among its own
    index: int
    mask: int

    @cached_property
    def p(self) -> int:
        """The number of mask pixels."""
        return int(self._of(BatchedRanking.p))

    @cached_property
    def n(self) -> int:
        """The number of pixels outside the mask."""
        return int(self._of(BatchedRanking.n))

    @cached_property
    def finite(self) -> bool:
        """True if every value is finite."""
        return bool(self._of(BatchedRanking.finite))

    def over_positives(self, term: Callable[[Levels], Any]) -> float:
        """The sum over the mask pixels of a term of the counts at their values."""
        return float(self._of(BatchedRanking.over_positives, term))

    def cut(self, value: float) -> Cut:
        """Counts above and at a value, the same for all maps of the batch."""
        return Cut(*self._of(BatchedRanking.cut, value))

    @property
    def cut_at_top(self) -> Cut:
        """Counts at the largest value."""
        return Cut(*self._of(BatchedRanking.cut_at_top))

    @property
    def cut_at_pth_largest(self) -> Cut:
        """Counts above and at the p-th largest value."""
        return Cut(*self._of(BatchedRanking.cut_at_pth_largest))

    def cut_at_negative(self, surpassing: Callable[[int], int]) -> Cut:
        """Counts above and at the (surpassing(n) + 1)-th largest value outside the mask."""
        return Cut(*self._of(BatchedRanking.cut_at_negative, surpassing))

    def above_scaled(self, threshold: float) -> tuple[int, int]:
        """Numbers of pixels whose scaled value is above a threshold."""
        return self._pair(BatchedRanking.above_scaled, threshold)

    def above_share_of_top(self, threshold: float) -> tuple[int, int]:
        """Numbers of pixels above a share of the largest value."""
        return self._pair(BatchedRanking.above_share_of_top, threshold)

    @property
    def masses(self) -> tuple[float, float]:
        """Sums of the positive values in units of the largest."""
        return self._pair(BatchedRanking.masses)

    @property
    def scaled_sums(self) -> tuple[float, float]:
        """Sums of the scaled values."""
        return self._pair(BatchedRanking.scaled_sums)

    @property
    def boxed(self) -> RankedMap:
        """The same map against the bounding box of the mask."""
        return RankedMap(self.batch.boxed, self.index, self.mask)

    def _of(self, statistic: Callable[..., Tensor], *arguments: Any) -> Any:
        return self.batch.on_host(statistic, *arguments)[self.index][self.mask]

    def _pair(self, statistic: Callable[..., Tensor], *arguments: Any) -> tuple[Any, Any]:
        inside, outside = self._of(statistic, *arguments)
        return inside, outside


def _filled(flags: Tensor) -> Tensor:
    """All places of the last axis from the first True to the last."""
    counts = flags.cumsum(dim=-1)
    return (counts > 0) & (counts - flags.int() < counts[..., -1:])
