"""Single deletion: does the map rank the cells of a grid, or an image's parts, as the logit falls without each?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
import numpy as np
from salgen.evaluation.metrics.inputs.map_similarity import pearson, ranks
from salgen.evaluation.metrics.inputs.metric import CONSTANT_MAP, NO_TWIN, ONE_PART, Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.insertion import DELETED, IMAGES, reference_images
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import Tensor
    from salgen.types import Float64

DECIMALS = 5  # falls that agree in these are equal: networks answer in single precision


@dataclass(frozen=True)
class SingleDeletion(ModelMetric):
    """Spearman's correlation of the map's means over a grid's cells with the falls of the logit without each cell.

    The authors have sums, which is the same for cells of equal size. A cell becomes zero after normalisation, or
    ``baseline``. The paper's network was trained on images that lack cells, so that these are in its domain. Networks
    are taken as they are here: for one that was not, this is plain single deletion. It costs a pass for each cell, and
    one more.

    Ties: tied cells share their mean rank. Falls that agree in five decimals are equal.
    Undefined: ``constant_map`` where all means are equal. Where the logit never falls the value is 0.
    """

    name = "idsds"
    in_all = False
    bounds = (-1.0, 1.0)
    reference = (
        "Hesse et al. 2024, Benchmarking the attribution quality of vision models, doi:10.48550/arXiv.2407.11910"
    )

    cells: int = param(4, "cells of the grid along each side, at most one per pixel", low=2)
    baseline: str = param(DELETED, "what pixels become; by default zero after normalisation", choices=IMAGES)

    def measure(self, data: MetricInputs) -> Measured:
        """In [-1, 1]."""
        from salgen.evaluation.methods.lime_kernel_shap import grid

        falls = self._falls(data)
        places = grid(data.maps.shape[1], data.maps.shape[2], self.cells).numpy().ravel()
        sizes = np.bincount(places, minlength=falls.shape[1])
        maps = (saliency.ravel().astype(np.float64) for saliency in data.maps)
        means = (np.bincount(places, saliency, falls.shape[1]) / sizes for saliency in maps)
        return _measured([_agreement(*both) for both in zip(means, falls, strict=True)])

    def _falls(self, data: MetricInputs) -> Float64:
        """How far the target's logit falls without each cell, (N, cells)."""
        import torch
        from salgen.evaluation.methods.lime_kernel_shap import grid
        from salgen.evaluation.models.inspection.model_view import score_gradient

        images, empty = data.predictor.inputs, reference_images(data, self.baseline)
        places = grid(images.shape[2], images.shape[3], self.cells).to(images.device)
        count = int(places.max()) + 2  # the last one is the image itself
        numbers = torch.arange(len(data) * count, device=images.device)
        owners, gone = numbers // count, (numbers % count).view(-1, 1, 1, 1)
        targets = torch.tensor(data.targets, device=images.device)[owners]

        def inputs(part: slice) -> Tensor:
            return torch.where(places == gone[part], empty[owners[part]], images[owners[part]])

        def value(logits: Tensor, part: slice) -> Tensor:
            return (logits.double() * score_gradient(logits, targets[part], "logit")).sum(dim=1)

        logits = data.predictor.batches.values(data.predictor.view, len(numbers), inputs, value).view(-1, count)
        return np.asarray((logits[:, -1:] - logits[:, :-1]).cpu().numpy().round(DECIMALS))


@dataclass(frozen=True)
class PartDeletion(ModelMetric):
    """Spearman's correlation of the map's sums over an image's parts with the falls of the logit without each part.

    Parts are the connected pieces of the mask, such as lesions or eyes. A part becomes what the twin shows in its
    place. FunnyBirds maps the correlation to the range from 0 to 1, and its parts need not be causes. It costs a pass
    for each part, and one more.

    Ties: tied parts share their mean rank. Falls that agree in five decimals are equal.
    Undefined: ``one_part`` if the mask has fewer than two pieces, ``no_twin`` without a twin, ``constant_map`` where
    all sums are equal. Where the logit falls alike without any part the value is 0.
    """

    name = "part-deletion"
    in_all = False
    needs = ModelMetric.needs | {"mask", "twin"}
    bounds = (-1.0, 1.0)
    reference = (
        "Hesse et al. 2023, FunnyBirds: a synthetic vision dataset for a part-based analysis of explainable AI "
        "methods, doi:10.48550/arXiv.2308.06248, single deletion"
    )

    def measure(self, data: MetricInputs) -> Measured:
        """In [-1, 1]; of several acceptable masks the first counts."""
        return _measured([self._of_sample(data, sample) for sample in range(len(data))])

    def _of_sample(self, data: Any, sample: int) -> tuple[float, str]:
        from scipy import ndimage
        from salgen.evaluation.metrics.inputs.batched_predictor import logits_of

        parts, count = ndimage.label(data.masks[sample, 0], np.ones((3, 3)))
        twin = data.twins[sample]
        if twin is None or count < 2:
            return np.nan, NO_TWIN if twin is None else ONE_PART
        image, numbers = data.images[sample], np.arange(1, count + 1)
        shown = np.stack([image, *(np.where(parts == number, twin, image) for number in numbers)])
        logits = logits_of(data.view, data.max_memory)(shown)[:, data.targets[sample]]
        return _agreement(
            ndimage.sum_labels(data.maps[sample], parts, numbers), (logits[0] - logits[1:]).round(DECIMALS)
        )


def _measured(found: Sequence[tuple[float, str]]) -> Measured:
    """The values and the reasons, from those of each sample."""
    return np.array([value for value, _ in found]), [reason for _, reason in found]


def _agreement(shown: Float64, falls: Float64) -> tuple[float, str]:
    """Spearman's correlation of what a map shows with falls of the logit, and the reason if it is undefined."""
    if np.ptp(shown) <= 1e-12 * np.abs(shown).max():
        return np.nan, CONSTANT_MAP
    value = pearson(ranks(shown), ranks(falls))
    return (0.0 if np.isnan(value) else float(value)), ""
