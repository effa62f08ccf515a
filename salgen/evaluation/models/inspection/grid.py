"""A layer's output as channels of an image: which axis counts channels, and where the pixels are."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
import torch
from torch import Tensor
from salgen.evaluation.models.inspection.positions import ROUNDING, Places, is_grid, spans


@dataclass(frozen=True)
class Grid:
    """The arrangement of a layer's output for one size of image."""

    size: tuple[int, int]  # (h, w), pixels of each channel
    channel_axis: int  # the axis of the output that counts channels; axis 0 counts images
    whole: bool = True  # whether every number of a channel is a pixel; not if there is a class token
    # int64 (h * w,): where each pixel is on the other axes, flattened; None if they are in order
    pixels: Tensor | None = field(default=None, compare=False)

    @property
    def are_maps(self) -> bool:
        """True for outputs (n, K, h, w)."""
        return self.channel_axis == 1 and self.whole and self.pixels is None

    @classmethod
    def of(cls, shape: tuple[int, ...], places: Places | None) -> Grid | None:
        """The arrangement of an output of one image, of that shape (1, ...); None if it cannot be told.

        `places` are those of its numbers, NaN where one has none; None if none has any.
        """
        if len(shape) < 3 or shape[0] != 1:
            return None
        if places is None:
            one_pixel = len(shape) == 4 and max(shape) == prod(shape)
            return cls((1, 1), 1 + shape[1:].index(max(shape))) if one_pixel else None
        spreads = {axis: max(float(spans(part, axis).max()) for part in places) for axis in range(1, len(shape))}
        axis = min(spreads, key=lambda axis: (spreads[axis] > ROUNDING and spreads[axis], -shape[axis]))
        others = [side for number, side in enumerate(shape) if number not in (0, axis)]
        rows, columns = (part.nanmean(dim=axis)[0].expand(others) for part in places)
        if len(others) == 2 and is_grid(rows, columns) and not bool(rows.isnan().any()):
            grid: Grid | None = cls((others[0], others[1]), axis)
        else:
            grid = _sorted_grid(rows.flatten(), columns.flatten(), axis)
        # where places differ by a pixel along the axis, it may be one of the image's
        return grid if grid is not None and spreads[axis] * max(grid.size) <= 1 else None

    def channels(self, output: Tensor) -> Tensor:
        """The layer's output for n images as (n, K, h, w)."""
        first = output.movedim(self.channel_axis, 1)
        if self.pixels is None:
            return first.reshape(*first.shape[:2], *self.size)
        return first.flatten(2)[:, :, self.pixels.to(output.device)].reshape(*first.shape[:2], *self.size)


def _sorted_grid(rows: Tensor, columns: Tensor, axis: int) -> Grid | None:
    """The grid of places (m,) in any order, NaN where there is none; None if they fill no rectangle once."""
    (placed,) = (~rows.isnan()).nonzero(as_tuple=True)
    if not len(placed):
        return None
    count = len(rows)
    rows, columns = _ranks(rows[placed]), _ranks(columns[placed])
    size = (int(rows.max()) + 1, int(columns.max()) + 1)
    numbers = rows * size[1] + columns
    if len(placed) != size[0] * size[1] or len(set(numbers.tolist())) < len(numbers):
        return None
    pixels = placed[numbers.argsort()].cpu()
    whole = len(placed) == count
    in_order = whole and bool((pixels.diff() == 1).all())
    return Grid(size, axis, whole, None if in_order else pixels)


def _ranks(values: Tensor) -> Tensor:
    """The rank of each value (m,), from 0; those that differ by rounding alone share one."""
    ordered, places = values.sort()
    ranks = (ordered.diff(prepend=ordered[:1]) > ROUNDING).cumsum(dim=0)
    return torch.empty_like(places).index_copy_(0, places, ranks)
