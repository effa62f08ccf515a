"""Families of methods that are compared with one another: one model, metric, variant and choice of samples.

Holm's correction is over the pairs of a family. Several families hold more false findings than one allows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
import numpy as np
from numpy.typing import NDArray
from salgen.evaluation.scoring.metric_selection import higher_is_better, ranking_metrics
from salgen.evaluation.statistics.clusters import cluster_sums, numbered
from salgen.evaluation.statistics.score_cube import ScoreCube
from salgen.evaluation.statistics.training_noise import TrainingNoise, training_noise
from salgen.parameters import parse_call
from salgen.types import Float64

Key = tuple[str, str]  # a method's call and the reduction of its maps


@dataclass(frozen=True)
class Family:
    """The scores of methods on the same samples, a map that failed counted as the worst."""

    samples: str  # the choice of samples: `"all"`, `"correct"` or `"certified"` ones
    model: str
    metric: str
    variant: str
    higher_is_better: bool
    keys: list[Key]  # the K methods
    values: Float64  # float64 (N, K): means over training seeds. NaN in whole rows, where no method has a value
    per_training: Float64  # float64 (S, N, K): the scores under each training seed, NaN where not all methods have one
    clusters: NDArray[np.int64]  # int64 (N,): the number of each sample's cluster, from 0 on

    @property
    def used(self) -> NDArray[np.bool_]:
        """The samples that have values, bool (N,)."""
        return np.asarray(~np.isnan(self.values).any(axis=1))

    @property
    def trainings(self) -> int:
        """The number of training seeds that have values."""
        return int(np.isfinite(self.per_training).any(axis=(1, 2)).sum())

    @cached_property
    def sums(self) -> Float64:
        """float64 (G, K): sums over the samples of each cluster; NaN in the rows of clusters without values."""
        sums = cluster_sums(np.nan_to_num(self.values), self.clusters)
        sums[cluster_sums(self.used, self.clusters) == 0] = np.nan
        return sums

    @cached_property
    def noise(self) -> TrainingNoise | None:
        """What the trainings add to the differences of the sums over all clusters; None for one training."""
        seeds = np.isfinite(self.per_training).any(axis=(1, 2))
        if seeds.sum() < 2:
            return None
        noise = training_noise(self.per_training[seeds][:, self.used], numbered(self.clusters[self.used]))
        return replace(noise, error=noise.error * self.used.sum())


def is_ceiling(call: str) -> bool:
    """True if a method is made from the mask itself, so that no method is compared with it."""
    return parse_call(call)[0].startswith("oracle")


def family(cube: ScoreCube, model: str, metric: str, variant: str) -> Family | None:
    """The family of a model's methods under test and its floors, by one metric and variant; None without two methods.

    A value counts where every other method with any value has one for the same sample and training seed.
    """
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
    per_training = np.where(common, values, np.nan).transpose(1, 2, 0)
    means = np.ascontiguousarray(means.T)
    higher = bool(higher_is_better(metric))
    return Family(cube.subset, model, metric, variant, higher, keys, means, per_training, cube.clusters)


def families(cube: ScoreCube) -> Iterator[Family]:
    """All families of a cube: each model, metric with a direction, and variant."""
    models = dict.fromkeys(model for model, _, _ in cube.series)
    for place in product(models, ranking_metrics(cube.metrics), cube.variants):
        if (group := family(cube, *place)) is not None:
            yield group
