"""What a metric declares, with one base class for each way of measuring, and the reasons why a value is undefined.

A metric plug-in is a frozen dataclass derived from one of the base classes; its fields are its parameters. No metric
takes an absolute value: how channels and signs become a map is the method's reduction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.evaluation.metrics.inputs.metric_inputs import OWN, PAIRED, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.parameters import param
from salgen.types import Float64

EMPTY_MASK = "empty_mask"
TRIVIAL_FULL_MASK = "trivial_full_mask"
MISCLASSIFIED = "misclassified"
NO_TWIN = "no_twin"
NON_FINITE_MAP = "non_finite_map"
ZERO_ENERGY = "zero_energy"
TOO_FEW_NEGATIVES = "too_few_negatives"
CONSTANT_MAP = "constant_map"
FITTED_METHOD = "fitted_method"
PATCH_MATTERS = "patch_matters"
PATCH_VANISHED = "patch_vanished"
ZERO_ATTRIBUTION = "zero_attribution"
CONSTANT_ATTRIBUTION = "constant_attribution"
ONE_PART = "one_part"

PATCH_FAULTS = frozenset({PATCH_MATTERS, PATCH_VANISHED})
# reasons for which no map could have a value; any other one is the map's fault
UNUSABLE_SAMPLE = frozenset(
    {
        *(EMPTY_MASK, TRIVIAL_FULL_MASK, MISCLASSIFIED, NO_TWIN, FITTED_METHOD, *PATCH_FAULTS),
        *(ZERO_ATTRIBUTION, CONSTANT_ATTRIBUTION, ONE_PART),
    }
)

FAMILIES = ("ranking", "localization", "faithfulness", "contrast", "sensitivity", "sanity", "diagnostic", "attribution")

Measured = tuple[Float64, list[str]]


@dataclass(frozen=True)
class Metric:
    """The declarations of every metric; by default from 0 to 1, the higher the better, of single samples."""

    # name, aliases: registered name, and other names that `score` takes
    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    # "sample": one map at a time; "pair": two maps of one sample; "dataset": a value depends on the other samples too
    kind: ClassVar[str] = "sample"
    family: ClassVar[str] = "localization"  # one of `FAMILIES`; also the name by which the group is chosen
    # inputs besides the map: "mask" (at least one pixel of it in the scored region), "negatives" (at least one pixel
    # outside it), "image", "target", "correct" (whether it is classified rightly), "model", "method" (which can explain
    # again), "twin" (the image's twin), "attribution" (the exact one of a designed network), "training", or second
    # maps: "twin_maps" (of the twins), "patched_maps" (of the twins with a patch that the model ignores),
    # "paired_maps", "paired_twin_maps", "paired_patched_maps" (the same by a second model), "shuffled_maps" (by a model
    # trained on permuted labels)
    needs: ClassVar[frozenset[str]] = frozenset()
    takes_empty_masks: ClassVar[bool] = False  # whether an empty mask has a value too, though the metric needs "mask"
    # whether it is defined for rightly classified samples only: under both models, or with and without the feature,
    # where two maps are compared
    only_correct: ClassVar[bool] = False
    regional: ClassVar[bool] = False  # whether it is scored within a region; otherwise only on the whole image
    higher_is_better: ClassVar[bool | None] = True  # direction; None for a diagnostic, which ranks nothing
    # smallest and largest value of any sample. A map that failed gets the worse of them in `Scores.worst_case`, or the
    # worst that was observed where that is infinite
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    # parameter to the values that a run takes where the call does not set it
    sweep: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    # scale name to the parameters in which a run differs from the fields' defaults, the papers'
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    reference: ClassVar[str]  # paper and equation
    # whether ``all`` and the families take it; others are computed where they are named, so that groups cost the same
    in_all: ClassVar[bool] = True
    version: ClassVar[str] = "1"  # changes whenever a value does


@dataclass(frozen=True)
class MaskMetric(Metric):
    """A metric of one map against one mask: write ``__call__(ranking) -> (value, reason)``.

    The map is finite and all that is needed is given. The reason says why a value is NaN; it is "" where the value is
    not. Of several acceptable masks the one with the best value counts. What `needs` names besides the mask comes as
    keyword arguments: ``image`` float32 (C, H, W), ``target`` int, ``correct`` bool, ``attribution`` float32 (rows,
    columns), ``twin_map``, ``patched_map``, ``paired_map``, ``paired_twin_map``, ``paired_patched_map``,
    ``shuffled_map`` float (H, W).

    `ignores_position` says that shuffling the pixels of map and mask together changes nothing.
    """

    ignores_position = True
    needs = frozenset({"mask"})
    regional = True


@dataclass(frozen=True)
class DatasetMetric(MaskMetric):
    """A metric whose values are known when all maps are: write ``partial(rankings)`` and ``aggregate(partial)``."""

    kind = "dataset"

    def partial(self, rankings: Sequence[Ranking]) -> Float64:
        """The partial result of one map under its acceptable masks, float64 (k,)."""
        raise NotImplementedError

    def aggregate(self, partial: Float64) -> Float64:
        """The values, float64 (N,), of all maps of one method from their partial results, float64 (N, k)."""
        raise NotImplementedError


@dataclass(frozen=True)
class ModelMetric(Metric):
    """A metric that asks the model about many changed images: write ``measure(data)``."""

    family = "faithfulness"
    needs = frozenset({"model", "image", "target"})

    def measure(self, data: MetricInputs) -> Measured:
        """Values float64 (N,) and reasons for a batch whose maps are finite."""
        raise NotImplementedError


@dataclass(frozen=True)
class RetrainingMetric(Metric):
    """A metric with whole trainings behind each value: only a run computes it, and only where named."""

    kind = "dataset"
    family = "faithfulness"
    needs = frozenset({"training"})


def of_param() -> Any:
    """The field ``of`` of a metric that is about one of two models."""
    return param(OWN, "whose maps: the model's own, or those of the run's second model", choices=(OWN, PAIRED))


def compat_of(metric: Metric) -> str | None:
    """The code or paper whose deviating reading an instance follows, its field `compat`; None for the canonical one."""
    compat: str | None = getattr(metric, "compat", None)
    return compat
