"""RISE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from salgen.evaluation.attribution.attribution_context import AttributionContext, Perturbation
from salgen.parameters import param
from salgen.seeding import Stream


@dataclass(frozen=True)
class Rise(Perturbation):
    """The mean of random masks, each weighted by the target's probability under it.

    A mask is a coarse grid of zeros and ones, enlarged bilinearly by whole cells to one cell more than the image. It is
    cropped at a random place and multiplies the normalised image. The weighted sum of the masks is divided by their
    number and by `share`. The paper takes 4000 masks for VGG16, 8000 for ResNet-50.
    """

    name = "rise"
    cost = "4000"
    reference = (
        "Petsiuk et al. 2018, RISE: randomized input sampling for explanation of black-box models, "
        "doi:10.48550/arXiv.1806.07421"
    )
    signed = False
    quick: ClassVar = {"n": 12, "grid": 3}
    scales: ClassVar = {"demo": {"n": 200}, "small": {"n": 500}}

    n: int = param(4000, "masks per image", low=1)
    grid: int = param(7, "cells of a mask along each side", low=1)
    share: float = param(0.5, "probability that a cell is kept", low=0.001, high=1.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w); about the target's probability where the network sees nothing."""
        images = context.inputs
        masks = Masks.draw(context.streams(self.name), self.n, self.grid, self.share, images)
        numbers = torch.arange(len(images) * self.n, device=images.device)
        owners = numbers // self.n

        def inputs(part: slice) -> Tensor:
            return images[owners[part]] * masks.make(numbers[part])[:, None]

        values = context.values_of("probability", owners, inputs).view(len(images), self.n)
        return masks.weighted_sum(values)[:, None] / (self.n * self.share)


@dataclass(frozen=True)
class Masks:
    """Random masks of several images, as grids and shifts.

    Enlarging is linear along each axis, so a mask is ``down[y].T @ grid @ across[x]`` with
    matrices that depend on its shift alone.
    """

    grids: Tensor  # (n, m, s, s), zeros and ones
    shifts: Tensor  # int64 (2, n, m): where each mask is cropped, in rows and in columns
    # down, across: (cell, s, side): per shift, each cell's weight in each row (column) of a mask
    down: Tensor
    across: Tensor

    @classmethod
    def draw(cls, streams: list[Stream], count: int, side: int, share: float, images: Tensor) -> Masks:
        """`count` masks for each image, from the image's own stream."""
        down, across = (_ramps(side, length).to(images) for length in images.shape[2:])
        grids = np.stack([stream.uniform(count * side * side) < share for stream in streams])
        shifts = np.stack([[stream.integers(len(ramps), count) for stream in streams] for ramps in (down, across)])
        device = images.device
        return cls(
            torch.from_numpy(grids).to(images).view(len(streams), count, side, side),
            torch.from_numpy(shifts).to(device),
            down,
            across,
        )

    def make(self, numbers: Tensor) -> Tensor:
        """The masks (k, h, w) in [0, 1] of the given numbers, counted through all images."""
        y, x = self.shifts.flatten(1)[:, numbers]
        return self.down[y].mT @ (self.grids.flatten(0, 1)[numbers] @ self.across[x])

    def weighted_sum(self, weights: Tensor) -> Tensor:
        """The sum of each image's masks times its weights (n, m): (n, h, w).

        Grids of equal shifts are added before they are enlarged, which saves making the masks again.
        """
        n, _, side, _ = self.grids.shape
        rows, columns = len(self.down), len(self.across)
        grids = self.grids.double().cpu().flatten(2)  # on a GPU the order of additions varies
        places = (self.shifts[0] * columns + self.shifts[1]).cpu()
        added = torch.zeros(n, rows * columns, side * side, dtype=torch.float64)
        for image, weight in enumerate(weights.double().cpu()):
            added[image].index_add_(0, places[image], weight[:, None] * grids[image])
        blocks = added.view(n, rows, columns, side, side).transpose(2, 3).reshape(n, rows * side, columns * side)
        down, across = (ramps.double().cpu().flatten(0, 1) for ramps in (self.down, self.across))
        return (down.T @ blocks @ across).to(weights)


def _ramps(cells: int, length: int) -> Tensor:
    """For every shift, each cell's weight at each pixel: (cell, cells, length).

    A cell is as many pixels as it takes for the cells to cover the side.
    """
    cell = -(-length // cells)
    enlarged = functional.interpolate(torch.eye(cells)[:, None], size=(cells + 1) * cell, mode="linear")[:, 0]
    return enlarged.unfold(1, length, 1)[:, :cell].transpose(0, 1).contiguous()
