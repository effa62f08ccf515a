"""SaCo: do groups of pixels with more of the map move the probability more?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
import numpy as np
from salgen.evaluation.metrics.inputs.metric import CONSTANT_MAP, Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.insertion import IMAGES, reference_images
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import Tensor

ROUNDING = 1e-5  # falls that differ by less are equal: networks answer in single precision


@dataclass(frozen=True)
class SalienceCoefficient(ModelMetric):
    """Agreement of groups' means of the map with the falls of the probability without each group, over all pairs.

    The pixels are cut into `groups` in the map's order, whose sizes differ by one pixel at most. A pair has means
    s_i >= s_j. It counts s_i - s_j if the probability falls at least as far without the first group, else s_j - s_i.
    The value is the total over the total of absolute values. The paper has sums, which is the same for groups of equal
    size. A group becomes the mean of each channel, or ``baseline``. It costs `groups` passes for each image.

    Ties: tied pixels as in `insertion-auc`. Groups of equal means do not count. Falls that differ by less than 1e-5 are
    equal.
    Undefined: ``constant_map`` where all means are equal.
    """

    name = "saco"
    in_all = False
    bounds = (-1.0, 1.0)
    reference = "Wu et al. 2024, On the faithfulness of vision transformer explanations, doi:10.48550/arXiv.2404.01415"

    groups: int = param(10, "groups of pixels", low=2)
    baseline: str = param("mean", "what pixels become; by default the mean of each channel", choices=IMAGES)

    def measure(self, data: MetricInputs) -> Measured:
        """In [-1, 1]."""
        import torch
        from salgen.evaluation.metrics.inputs.changed_images import (
            original_probabilities,
            probabilities_of,
            ranks_at,
            ranks_of,
        )

        images, empty = data.predictor.inputs, reference_images(data, self.baseline)
        size = data.maps[0].size
        groups = (ranks_at(data, images.shape[2:]).long() * self.groups // size).to(images.device)
        numbers = torch.arange(len(data) * self.groups, device=images.device)
        owners = numbers // self.groups

        def inputs(part: slice) -> Tensor:
            own = owners[part]
            gone = groups[own] == (numbers[part] % self.groups).view(-1, 1, 1)
            return torch.where(gone[:, None], empty[own], images[own])

        after = probabilities_of(data, owners, inputs).reshape(len(data), self.groups)
        falls = original_probabilities(data)[:, None] - after
        places = (ranks_of(data).long() * self.groups // size).flatten(1).cpu().numpy()
        means = np.stack(
            [
                np.bincount(place, saliency.ravel().astype(np.float64), self.groups)
                / np.maximum(np.bincount(place, minlength=self.groups), 1)
                for place, saliency in zip(places, data.maps, strict=True)
            ]
        )
        first, second = np.triu_indices(self.groups, 1)
        gaps, agree = means[:, first] - means[:, second], falls[:, first] >= falls[:, second] - ROUNDING
        total = np.abs(gaps).sum(axis=1)
        flat = total <= 1e-12 * np.abs(means).sum(axis=1)
        values = np.where(agree, gaps, -gaps).sum(axis=1) / np.where(flat, 1.0, total)
        return np.where(flat, np.nan, np.clip(values, -1.0, 1.0)), [CONSTANT_MAP if one else "" for one in flat]
