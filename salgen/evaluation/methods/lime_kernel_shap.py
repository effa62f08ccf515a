"""LIME and KernelSHAP: linear models of a network's output when regions are removed."""

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import (
    AttributionContext,
    Perturbation,
    baselines_param,
    output_param,
)
from salgen.evaluation.models.inspection.random_state import random_state
from salgen.parameters import param

ENDS_WEIGHT = 1e6  # KernelSHAP: weight of the image, and of the image without any region
RANK = 1e-10  # singular values below this share of the largest are rounding


@dataclass(frozen=True)
class Surrogate(Perturbation):
    """A linear model of the network's output when regions of the image are removed.

    Its coefficients are the attributions of the regions; each pixel gets its region's.
    """

    cost = "1000"
    name: ClassVar[str]
    resolution = "the regions'"
    quick: ClassVar = {"n": 20, "cells": 3, "segments": 6}
    scales: ClassVar = {"demo": {"n": 300}, "small": {"n": 500}}

    n: int = param(1000, "changed images per image", low=3)
    features: str = param("grid", "the regions: cells of a grid, or SLIC segments", choices=("grid", "slic"))
    cells: int = param(14, "cells of the grid along each side, at most one per pixel", low=1)
    segments: int = param(50, "about how many SLIC segments", low=1)
    baselines: float | str = baselines_param("black")
    output: str = output_param()

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, 1, h, w), the same over each region."""
        images, covers = context.inputs, context.baselines_of(self.baselines)
        regions = torch.stack([self._regions(image) for image in images]).to(images.device)
        counts = (regions.flatten(1).amax(dim=1) + 1).tolist()
        drawn = torch.zeros(len(images), self.n, max(counts), dtype=torch.bool)
        for sample, name in enumerate(context.ids):
            with random_state(context.seed, self.name, name):
                drawn[sample, :, : counts[sample]] = self._draw(counts[sample])
        kept = drawn.flatten(0, 1).to(images.device)
        owners = torch.arange(len(images), device=images.device).repeat_interleave(self.n)

        def inputs(part: slice) -> Tensor:
            own = owners[part]
            shown = kept[part].gather(1, regions[own].flatten(1)).view(-1, 1, *images.shape[2:])
            return torch.where(shown, images[own], covers if len(covers) == 1 else covers[own])

        values = context.values_of(self.output, owners, inputs).view(len(images), self.n).cpu()
        maps = [
            self._fit(drawn[sample, :, :count].double(), values[sample])[regions[sample].cpu()]
            for sample, count in enumerate(counts)
        ]
        return torch.stack(maps)[:, None].to(images)

    def _regions(self, image: Tensor) -> Tensor:
        """Each pixel's region, numbered from 0: int64 (h, w)."""
        _, height, width = image.shape
        return slic(image, self.segments) if self.features == "slic" else grid(height, width, self.cells)

    def _draw(self, regions: int) -> Tensor:
        """The regions that each changed image keeps: bool (n, regions), of captum's random numbers."""
        raise NotImplementedError

    def _fit(self, kept: Tensor, values: Tensor) -> Tensor:
        """The regions' coefficients (k,) by the values (n,) of images that keep zeros and ones (n, k); all float64."""
        raise NotImplementedError


@dataclass(frozen=True)
class Lime(Surrogate):
    """A ridge regression on random removals of regions, the nearer to the image the more they count.

    Each region is kept with probability one half. An image counts exp(-d² / 2 width²), where d is the cosine distance
    of its kept regions from all of them. Width and ridge are those of the authors' code.
    """

    name = "lime"
    shows_image = True
    reference = 'Ribeiro et al. 2016, "Why should I trust you?", doi:10.1145/2939672.2939778'

    width: float = param(0.25, "width of the kernel", low=1e-3)
    ridge: float = param(1.0, "weight of the squared coefficients", low=0.0)

    def _draw(self, regions: int) -> Tensor:
        return torch.bernoulli(torch.full((self.n, regions), 0.5)).bool()

    def _fit(self, kept: Tensor, values: Tensor) -> Tensor:
        distances = 1 - kept.mean(dim=1).sqrt()  # the cosine of zeros and ones with all ones
        return regression(kept, values, torch.exp(-(distances**2) / (2 * self.width**2)), self.ridge)


@dataclass(frozen=True)
class KernelShap(Surrogate):
    """Shapley values of the regions, by a linear regression on random removals.

    The attributions of all regions sum to the difference between the image and the image without
    any. With fewer images than regions the solution of least norm is taken.
    """

    name = "kernel-shap"
    version = "2"
    shows_image = True
    reference = (
        "Lundberg and Lee 2017, A unified approach to interpreting model predictions, doi:10.48550/arXiv.1705.07874"
    )

    def _draw(self, regions: int) -> Tensor:
        """All regions, none, then k of them with a chance of 1 / (k (regions - k))."""
        kept = torch.ones(self.n, regions, dtype=torch.bool)
        kept[1] = False
        if regions == 1:  # which leaves nothing to draw
            return kept
        sizes = torch.arange(float(regions))
        chances = (regions - 1) / (sizes * (regions - sizes)).masked_fill(sizes == 0, torch.inf)
        chances /= chances.sum(dim=0, keepdim=True)
        draws = [(torch.multinomial(chances, 1, True), torch.randn(regions)) for _ in range(self.n - 2)]
        numbers, order = torch.stack([k for k, _ in draws]), torch.stack([values for _, values in draws])
        kept[2:] = order > order.sort(dim=1).values.gather(1, regions - 1 - numbers)
        return kept

    def _fit(self, kept: Tensor, values: Tensor) -> Tensor:
        ends = (kept == kept[:, :1]).all(dim=1)  # all regions or none, where the model must be exact
        return regression(kept, values, torch.where(ends, ENDS_WEIGHT, 1.0).double())


def regression(kept: Tensor, values: Tensor, weights: Tensor, ridge: float = 0.0) -> Tensor:
    """Weighted least squares with a constant: the coefficients (k,) of `kept` (n, k), of least norm; all float64.

    `values` and `weights` are (n,), and `ridge` is the weight of the squared coefficients.
    """
    shares, roots = weights / weights.sum(), weights.sqrt()
    rows, goals = roots[:, None] * (kept - shares @ kept), roots * (values - shares @ values)
    if ridge:
        rows = torch.cat([rows, ridge**0.5 * torch.eye(kept.shape[1]).double()])
        goals = torch.cat([goals, goals.new_zeros(kept.shape[1])])
    # MKL's gelsy, the default, errs where rows weigh 1e6
    solution: Tensor = torch.linalg.lstsq(rows, goals[:, None], rcond=RANK, driver="gelsd").solution
    return solution[:, 0]


def grid(height: int, width: int, cells: int) -> Tensor:
    """Numbered cells, row by row, as equal as pixels allow and at most one per pixel: int64 (height, width)."""
    down, across = min(cells, height), min(cells, width)
    rows, columns = torch.arange(height) * down // height, torch.arange(width) * across // width
    return rows[:, None] * across + columns


def slic(image: Tensor, segments: int) -> Tensor:
    """About `segments` connected segments of similar colour of an image (C, h, w), numbered from 0: int64 (h, w)."""
    from skimage.segmentation import slic as segmented

    pixels = image.detach().double().cpu().movedim(0, -1).numpy()
    labels = segmented(pixels, n_segments=segments, convert2lab=pixels.shape[-1] == 3, channel_axis=-1)
    return torch.from_numpy(np.unique(labels, return_inverse=True)[1].reshape(labels.shape))
