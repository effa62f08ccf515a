"""Families of methods that are compared with one another: one model, metric, variant and choice of samples.

A family is also what Holm's correction is over: its pairs of methods. Other regions, metrics and choices of samples
ask other questions of the same data. Each is corrected for itself, so several families together
hold more false findings than one family allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.scoring.metric_groups import higher_is_better, ranking_metrics
from salgen.evaluation.statistics.score_cube import ScoreCube
from salgen.parameters import parse_call
from salgen.types import Float64

Key = tuple[str, str]  # a method's call and the reduction of its maps


@dataclass(frozen=True)
class Family:
    """The scores of methods on the same samples, a map that failed counted as the worst.

    Attributes
    ----------
    samples
        The choice of samples: ``"all"``, ``"correct"`` or ``"certified"`` ones.
    keys
        The K methods.
    values
        float64 (N, K): means over training seeds. NaN in whole rows, where no method has a value.
    """

    samples: str
    model: str
    metric: str
    variant: str
    higher_is_better: bool
    keys: list[Key]
    values: Float64

    @property
    def used(self) -> NDArray[np.bool_]:
        """The samples that have values, bool (N,)."""
        return np.asarray(~np.isnan(self.values).any(axis=1))


def is_ceiling(call: str) -> bool:
    """True if a method is made from the mask itself, so that no method is compared with it."""
    return parse_call(call)[0].startswith("oracle")


def family(
    cube: ScoreCube, model: str, metric: str, variant: str, members: Sequence[int] | None = None
) -> Family | None:
    """The family of a model's methods under one metric and variant, on the cube's samples.

    Parameters
    ----------
    members
        Indices on the cube's first axis; by default the model's methods under test and its floors.

    Returns
    -------
    Without the methods that have no value at all. A value counts where every other method has one for
    the same sample and training seed. None if fewer than two methods or no sample is left.

    Raises
    ------
    SalgenError
        If the metric is a diagnostic.
    """
    higher = higher_is_better(metric)
    if higher is None:
        raise SalgenError(f"{metric} is a diagnostic: it ranks no method, so there is nothing to compare")
    if members is None:
        members = [member for member in cube.members(model) if not is_ceiling(cube.series[member][1])]
    place = cube.metrics.index(metric), cube.variants.index(variant)
    seeds = cube.seeds_of(model)
    members = [member for member in members if np.isfinite(cube.worst[(member, *place)][seeds]).any()]
    if len(members) < 2:
        return None
    values = cube.worst[(members, *place)][:, seeds]
    common = np.isfinite(values).all(axis=0)
    if not common.any():
        return None
    counts = common.sum(axis=0)
    sums = np.where(common, values, 0.0).sum(axis=1)
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    keys = [cube.series[member][1:] for member in members]
    return Family(cube.subset, model, metric, variant, higher, keys, np.ascontiguousarray(means.T))


def families(cube: ScoreCube) -> Iterator[Family]:
    """All families of a cube: each model, metric with a direction, and variant."""
    ranked = ranking_metrics(cube.metrics)
    for model in dict.fromkeys(model for model, _, _ in cube.series):
        for metric in ranked:
            for variant in cube.variants:
                group = family(cube, model, metric, variant)
                if group is not None:
                    yield group
