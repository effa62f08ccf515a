"""Single deletion: does the map rank the cells of a grid, or an image's parts, as the logit falls without each?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

        images, empty = data.predictor.inputs, reference_images(data, self.baseline)
        places = grid(images.shape[2], images.shape[3], self.cells).to(images.device)
        count = int(places.max()) + 2  # the last one is the image itself
        numbers = torch.arange(len(data) * count, device=images.device)
        owners, gone = numbers // count, (numbers % count).view(-1, 1, 1, 1)

        def inputs(part: slice) -> Tensor:
            return torch.where(places == gone[part], empty[owners[part]], images[owners[part]])

        logits = _logits(data, owners, inputs).reshape(-1, count)
        return (logits[:, -1:] - logits[:, :-1]).round(DECIMALS)


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

    def measure(self, data: Any) -> Measured:
        """In [-1, 1]; of several acceptable masks the first counts."""
        import torch
        from scipy import ndimage

        labelled = [ndimage.label(mask, np.ones((3, 3))) for mask in data.masks[:, 0]]
        faults = [
            NO_TWIN if twin is None else ONE_PART if count < 2 else ""
            for twin, (_, count) in zip(data.twins, labelled, strict=True)
        ]
        usable = [sample for sample, fault in enumerate(faults) if not fault]
        todo = [(sample, number) for sample in usable for number in range(labelled[sample][1] + 1)]  # 0: the image

        def inputs(part: slice) -> Tensor:
            pixels = [
                np.where((labelled[sample][0] == number) & (number > 0), data.twins[sample], data.images[sample])
                for sample, number in todo[part]
            ]
            normalised: Tensor = data.predictor.normalised(data.predictor.view.like(torch.tensor(np.stack(pixels))))
            return normalised

        owners = np.array([sample for sample, _ in todo], dtype=np.int64)
        logits = _logits(data, torch.from_numpy(owners), inputs) if usable else np.empty(0)
        measured = [(np.nan, fault) for fault in faults]
        for sample in usable:
            (parts, count), own = labelled[sample], logits[owners == sample]
            sums = ndimage.sum_labels(data.maps[sample], parts, range(1, count + 1))
            measured[sample] = _agreement(sums, (own[0] - own[1:]).round(DECIMALS))
        return _measured(measured)


def _logits(data: MetricInputs, owners: Tensor, inputs: Callable[[slice], Tensor]) -> Float64:
    """The target's logit of changed images, (n,); `owners`, int64 (n,), are the samples that they are made of."""
    import torch
    from salgen.evaluation.models.inspection.model_view import score_gradient

    device = data.predictor.inputs.device
    targets = torch.tensor(data.targets, device=device)[owners.to(device)]

    def value(logits: Tensor, part: slice) -> Tensor:
        return (logits.double() * score_gradient(logits, targets[part], "logit")).sum(dim=1)

    values = data.predictor.batches.values(data.predictor.view, len(owners), inputs, value)
    return np.asarray(values.cpu().numpy())


def _measured(found: Sequence[tuple[float, str]]) -> Measured:
    """The values and the reasons, from those of each sample."""
    return np.array([value for value, _ in found]), [reason for _, reason in found]


def _agreement(shown: Float64, falls: Float64) -> tuple[float, str]:
    """Spearman's correlation of what a map shows with falls of the logit, and the reason if it is undefined."""
    if np.ptp(shown) <= 1e-12 * np.abs(shown).max():
        return np.nan, CONSTANT_MAP
    value = pearson(ranks(shown), ranks(falls))
    return (0.0 if np.isnan(value) else float(value)), ""
