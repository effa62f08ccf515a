"""Maps that stay on the accelerator where they were made, sorted there for all metrics, masks and regions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BLOCK_PIXELS = 2**21  # pixels ranked at once; each needs some 170 bytes meanwhile
SCORED_ON = frozenset({"cuda"})  # kinds of devices; on a CPU NumPy ranks a map in a tenth of the time (docs/speed.md)


def are_scored_there(maps: Tensor) -> bool:
    """True if maps are scored on the device where they are, and false if they go to the host for that."""
    return maps.device.type in SCORED_ON and maps.layout == torch.strided


@dataclass(frozen=True, eq=False)
class SortedMaps:
    """Maps as rows of pixels, each sorted once."""

    values: Tensor  # float32 or float64 (B, H, W), on any device

    @cached_property
    def pixels(self) -> Tensor:
        """The values, (B, P)."""
        return self.values.flatten(1)

    @cached_property
    def ascending(self) -> Tensor:
        """The values of each map, ascending with NaN last, (B, P)."""
        return self._sorted[0]

    @property
    def order(self) -> Tensor:
        """The pixel of each place in the order, int64 (B, P)."""
        return self._sorted[1]

    @cached_property
    def ties(self) -> tuple[Tensor, Tensor]:
        """The place at which the group of pixels tied with each place begins, and the one after its last, int64."""
        count = self.pixels.shape[1]
        places = torch.arange(count, device=self.pixels.device).expand(self.pixels.shape)
        changes = self.ascending[:, 1:] != self.ascending[:, :-1]
        at_ends = changes.new_ones(len(changes), 1)
        first, last = torch.cat([at_ends, changes], dim=1), torch.cat([changes, at_ends], dim=1)
        begins = torch.where(first, places, 0).cummax(dim=1).values
        ends = torch.where(last, places, count - 1).flip(1).cummin(dim=1).values.flip(1) + 1
        return begins, ends

    @cached_property
    def _sorted(self) -> tuple[Tensor, Tensor]:
        values, order = self.pixels.sort(dim=1)
        return values, order


class DeviceMaps:
    """Saliency maps (N, H, W) on an accelerator, copied to the host only if something asks for that."""

    def __init__(self, values: Tensor) -> None:
        self.values = values.detach()
        self._block: tuple[slice, SortedMaps] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, H, W)."""
        return tuple(self.values.shape)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, chosen: NDArray[np.int64]) -> DeviceMaps:
        """Some of the maps, on their device."""
        return DeviceMaps(self.values[torch.from_numpy(chosen).to(self.values.device)])

    @property
    def finite(self) -> NDArray[np.bool_]:
        """Whether all values of each map are finite, bool (N,), on the host."""
        return np.asarray(self.values.isfinite().flatten(1).all(dim=1).cpu().numpy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """A copy on the host."""
        return np.asarray(self.values.cpu().numpy(), dtype)

    def block(self, index: int, masks: int) -> tuple[slice, SortedMaps]:
        """The part of the maps ranked together with one, each against so many masks; the last part is kept sorted."""
        if self._block is None or not self._block[0].start <= index < self._block[0].stop:
            size = max(BLOCK_PIXELS // max(self.values[0].numel() * masks, 1), 1)
            part = slice(index - index % size, min(index - index % size + size, len(self)))
            self._block = part, SortedMaps(self.values[part])
        return self._block
