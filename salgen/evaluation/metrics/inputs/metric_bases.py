"""Defaults of what metrics declare: one class for each way of measuring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from salgen.evaluation.metrics.inputs.metric import OWN, PAIRED
from salgen.parameters import param
from salgen.types import Float64

if TYPE_CHECKING:
    from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
    from salgen.evaluation.metrics.inputs.ranking import Ranking

Measured = tuple[Float64, list[str]]


def of_param() -> Any:
    """The field ``of`` of a metric that is about one of two models."""
    return param(OWN, "whose maps: the model's own, or those of the run's second model", choices=(OWN, PAIRED))


@dataclass(frozen=True)
class Declared:
    """Defaults of every metric: from 0 to 1, the higher the better, of single samples."""

    aliases: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str] = "sample"
    family: ClassVar[str] = "localization"
    needs: ClassVar[frozenset[str]] = frozenset()
    takes_empty_masks: ClassVar[bool] = False
    only_correct: ClassVar[bool] = False
    regional: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    sweep: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    version: ClassVar[str] = "1"


@dataclass(frozen=True)
class MaskMetric(Declared):
    """A metric of one map against one mask: write ``__call__(ranking) -> (value, reason)``.

    The map is finite and all that is needed is given; the reason says why a value is NaN, and is "" where it
    is not. Of several acceptable masks the one with the best value counts. What `needs` names besides the mask
    comes as keyword arguments: ``image`` float32 (C, H, W), ``target`` int, ``correct`` bool, ``attribution`` float32
    (rows, columns), ``twin_map``,
    ``patched_map``, ``paired_map``, ``paired_twin_map``, ``paired_patched_map``, ``shuffled_map`` float (H, W).

    `ignores_position` says that shuffling the pixels of map and mask together changes nothing. A metric with
    `reads_pixels` False asks its `ranking` only for what
    :class:`~salgen.evaluation.metrics.inputs.mask_statistics.MaskStatistics` has, and so is computed on the accelerator
    where the maps are.
    """

    ignores_position: ClassVar[bool] = True
    reads_pixels: ClassVar[bool] = True

    needs: ClassVar[frozenset[str]] = frozenset({"mask"})
    regional: ClassVar[bool] = True

    def ceiling(self, p: int, n: int) -> float:
        """The value of the mask itself as a map, for p mask pixels and n others; NaN if it depends on its shape."""
        return self.bounds[1] if self.higher_is_better else self.bounds[0]


@dataclass(frozen=True)
class DatasetMetric(MaskMetric):
    """A metric whose values are known when all maps are: write ``partial(rankings)`` and ``aggregate(partial)``."""

    kind: ClassVar[str] = "dataset"

    def partial(self, rankings: Sequence[Ranking]) -> Float64:
        """The partial result of one map under its acceptable masks, float64 (k,)."""
        raise NotImplementedError

    def aggregate(self, partial: Float64) -> Float64:
        """The values, float64 (N,), of all maps of one method from their partial results, float64 (N, k)."""
        raise NotImplementedError


@dataclass(frozen=True)
class ModelMetric(Declared):
    """A metric that asks the model about many changed images: write ``measure(data)``."""

    family: ClassVar[str] = "faithfulness"
    needs: ClassVar[frozenset[str]] = frozenset({"model", "image", "target"})

    def measure(self, data: MetricInputs) -> Measured:
        """Values float64 (N,) and reasons for a batch whose maps are finite."""
        raise NotImplementedError


@dataclass(frozen=True)
class RetrainingMetric(Declared):
    """A metric with whole trainings behind each value: only a run computes it, and only where named."""

    kind: ClassVar[str] = "dataset"
    family: ClassVar[str] = "faithfulness"
    needs: ClassVar[frozenset[str]] = frozenset({"training"})
