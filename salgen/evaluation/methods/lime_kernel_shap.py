"""LIME and KernelSHAP, by captum: linear models of a network's output when regions are removed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import (
    AttributionContext,
    Explanation,
    baselines_param,
    output_param,
)
from salgen.evaluation.models.inspection.random_state import random_state
from salgen.parameters import param

NAMES = ("lime", "kernel-shap")

Value = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Surrogate(Explanation):
    """A linear model of the network's output when regions of the image are removed.

    Its coefficients are the attributions of the regions; each pixel gets its region's.
    """

    name: ClassVar[str]
    reduction: ClassVar[str] = "sum"  # over one channel
    resolution: ClassVar[str] = "the regions'"
    shares: ClassVar[str | None] = None
    quick: ClassVar[Mapping[str, Any]] = {"n": 20, "cells": 3, "segments": 6}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"demo": {"n": 300}, "small": {"n": 500}}
    complete: ClassVar[bool] = False  # whether the attributions of all regions sum to what removing all changes

    n: int = param(1000, "changed images per image", low=3)
    features: str = param("grid", "the regions: cells of a grid, or SLIC segments", choices=("grid", "slic"))
    cells: int = param(14, "cells of the grid along each side, at most one per pixel", low=1)
    segments: int = param(50, "about how many SLIC segments", low=1)
    baselines: float | str = baselines_param("black")
    output: str = output_param()

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, 1, h, w), the same over each region."""
        return torch.stack([self._map(context, sample) for sample in range(len(context.inputs))])[:, None]

    def _map(self, context: AttributionContext, sample: int) -> Tensor:
        """One sample's map (h, w), by its own random numbers."""
        image = context.inputs[sample : sample + 1]
        height, width = image.shape[2:]
        regions = slic(image[0], self.segments) if self.features == "slic" else grid(height, width, self.cells)
        regions = regions.to(image.device)
        removed = context.baselines_of(self.baselines).expand_as(context.inputs)[sample : sample + 1]

        def value(changed: Tensor) -> Tensor:
            owners = torch.full((len(changed),), sample, device=image.device)
            return context.values_of(self.output, owners, lambda part: changed[part])

        if self.complete and not bool(regions.any()):  # a single region leaves nothing to draw
            return (value(image) - value(removed)).to(image)[regions]
        with random_state(context.seed, self.name, context.ids[sample]):
            coefficients: Tensor = self._peer(value).attribute(
                image,
                baselines=removed,
                feature_mask=regions[None, None],
                n_samples=self.n,
                perturbations_per_eval=context.batches.size,
                return_input_shape=False,
            )
        return coefficients.flatten().to(image)[regions]

    def _peer(self, value: Value) -> Any:
        """Captum's object, which asks `value` for the network's values (k,) of changed images (k, C, h, w)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Lime(Surrogate):
    """A ridge regression on random removals of regions, the nearer to the image the more they count.

    Each region is kept with probability one half. An image counts exp(-d² / 2 width²), where d is the cosine distance
    of its kept regions from all of them. Width and ridge are those of the authors' code.
    """

    name: ClassVar[str] = "lime"
    shows_image: ClassVar[bool] = True
    reference: ClassVar[str] = 'Ribeiro et al. 2016, "Why should I trust you?", doi:10.1145/2939672.2939778'

    width: float = param(0.25, "width of the kernel", low=1e-3)
    ridge: float = param(1.0, "weight of the squared coefficients", low=0.0)

    def _peer(self, value: Value) -> Any:
        import captum.attr
        from captum._utils.models.linear_model import SkLearnRidge

        return captum.attr.Lime(value, SkLearnRidge(alpha=self.ridge), similarity_func=self._nearness)

    def _nearness(self, _image: Tensor, _changed: Tensor, kept: Tensor, **_: Any) -> float:
        distance = 1 - kept.float().mean().sqrt()  # the cosine of zeros and ones with all ones
        return float(torch.exp(-(distance**2) / (2 * self.width**2)))


@dataclass(frozen=True)
class KernelShap(Surrogate):
    """Shapley values of the regions, by a linear regression on random removals.

    The attributions of all regions sum to the difference between the image and the image without
    any. With fewer images than regions the solution of least norm is taken.
    """

    name: ClassVar[str] = "kernel-shap"
    complete: ClassVar[bool] = True
    shows_image: ClassVar[bool] = True
    reference: ClassVar[str] = (
        "Lundberg and Lee 2017, A unified approach to interpreting model predictions, doi:10.48550/arXiv.1705.07874"
    )

    def _peer(self, value: Value) -> Any:
        import captum.attr

        return captum.attr.KernelShap(value)


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
