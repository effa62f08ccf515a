"""Sobol and HSIC attribution: how the output depends on each cell of a grid when cells are dimmed or removed."""

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import (
    AttributionContext,
    Perturbation,
    baselines_param,
    output_param,
)
from salgen.evaluation.methods.lime_kernel_shap import grid
from salgen.parameters import param
from salgen.types import Float64


@dataclass(frozen=True)
class Dependence(Perturbation):
    """A measure of how the network's output depends on the share that each cell of a grid keeps of the image."""

    signed = False
    resolution = "the grid's"
    in_all = False

    cells: int = param(8, "cells of the grid along each side, at most one per pixel", low=1)
    baselines: float | str = baselines_param("zero")
    output: str = output_param()

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, cells, cells)."""
        images, (height, width) = context.inputs, context.inputs.shape[2:]
        covers = context.baselines_of(self.baselines)
        size = (min(self.cells, height), min(self.cells, width))
        regions = grid(height, width, self.cells).flatten().to(images.device)
        shares = torch.from_numpy(self._shares(context, size[0] * size[1])).to(images)
        count = shares.shape[1]
        owners = torch.arange(len(images), device=images.device).repeat_interleave(count)

        def inputs(part: slice) -> Tensor:
            own = owners[part]
            kept = shares.flatten(0, 1)[part][:, regions].view(-1, 1, height, width)
            cover = covers if len(covers) == 1 else covers[own]
            return cover + kept * (images[own] - cover)

        values = context.values_of(self.output, owners, inputs).view(len(images), count).cpu().numpy()
        maps = [self._measure(own, value) for own, value in zip(shares.double().cpu().numpy(), values, strict=True)]
        return torch.from_numpy(np.stack(maps)).view(len(images), 1, *size).to(images)

    def _shares(self, context: AttributionContext, cells: int) -> Float64:
        """The share of the image that each cell keeps in each changed image: (n, m, cells)."""
        raise NotImplementedError

    def _measure(self, shares: Float64, values: Float64) -> Float64:
        """The measure (cells,) of one image, by the values (m,) of its changed images."""
        raise NotImplementedError


@dataclass(frozen=True)
class Sobol(Dependence):
    """The total Sobol index of each cell: the share of the output's variance that goes with it, alone or with others.

    Cells keep shares from a Sobol sequence, the same for each image. Jansen's estimator compares these images with
    those in which a single cell has another share. Without any variance the map is zero. It costs `n` forward passes
    for each cell, and `n` more.
    """

    name = "sobol"
    cost = "2080"
    reference = (
        "Fel et al. 2021, Look at the variance! Efficient black-box explanations with Sobol-based sensitivity "
        "analysis, doi:10.48550/arXiv.2111.04138"
    )
    quick: ClassVar = {"n": 4, "cells": 3}
    scales: ClassVar = {"demo": {"n": 8}, "small": {"n": 8}}

    n: int = param(32, "points of the sequence, a power of two", low=2)

    def __post_init__(self) -> None:
        if self.n & (self.n - 1):
            raise SalgenError(f"sobol: n={self.n} must be a power of two, such as {2 ** self.n.bit_length()}")

    def _shares(self, context: AttributionContext, cells: int) -> Float64:
        from scipy.stats import qmc

        points = qmc.Sobol(2 * cells, scramble=False).random(self.n)
        first, second = points[:, :cells], points[:, cells:]
        changed = np.where(np.eye(cells, dtype=bool)[:, None], second, first)  # (cells, n, cells)
        together = np.concatenate([first[None], changed]).reshape(-1, cells)
        return np.broadcast_to(together, (len(context.ids), *together.shape)).copy()

    def _measure(self, shares: Float64, values: Float64) -> Float64:
        first, changed = np.split(values.reshape(-1, self.n), [1])
        variance = first.var(ddof=1)
        return ((first - changed) ** 2).mean(axis=1) / (2 * variance) if variance else np.zeros(len(changed))


@dataclass(frozen=True)
class Hsic(Dependence):
    """The Hilbert-Schmidt independence criterion between the output and whether a cell is kept.

    Each cell is kept in half of the changed images, at random. The kernel of cells is 1/2 - (x - y)².
    That of outputs is a radial basis function as wide as their median, as in the authors' code. It costs `n` forward
    passes.
    """

    name = "hsic"
    cost = "500"
    reference = (
        "Novello et al. 2022, Making sense of dependence: efficient black-box explanations using dependence measure, "
        "doi:10.48550/arXiv.2206.06219"
    )
    quick: ClassVar = {"n": 12, "cells": 3}
    scales: ClassVar = {"demo": {"n": 100}, "small": {"n": 200}}

    n: int = param(500, "changed images per image", low=2)

    def _shares(self, context: AttributionContext, cells: int) -> Float64:
        draws = [stream.uniform(self.n * cells).reshape(self.n, cells) for stream in context.streams(self.name)]
        return np.stack([one.argsort(axis=0).argsort(axis=0) < self.n // 2 for one in draws]).astype(np.float64)

    def _measure(self, shares: Float64, values: Float64) -> Float64:
        width = max(abs(float(np.median(values))), 1e-150)
        outputs = np.exp(-(((values[:, None] - values) / width) ** 2) / 2)
        centred = shares - shares.mean(axis=0)  # the centred kernel of a cell is twice their outer product
        return np.asarray(2 * ((outputs @ centred) * centred).sum(axis=0).clip(min=0) / self.n**2)
