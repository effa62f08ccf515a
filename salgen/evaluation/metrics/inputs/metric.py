"""The protocol of a metric, one definition each of what makes a saliency map right.

A metric plug-in is a frozen dataclass with the members of :class:`Metric`; `declarations` has the
defaults. No metric takes an absolute value: how channels and signs become a map is the method's
reduction.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

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

PATCH_FAULTS = frozenset({PATCH_MATTERS, PATCH_VANISHED})

OWN, PAIRED = "own", "paired"  # whose maps a metric of one model is about: the field `of`

NOT_THE_MAPS_DOING = frozenset(
    {
        *(EMPTY_MASK, TRIVIAL_FULL_MASK, MISCLASSIFIED, NO_TWIN, FITTED_METHOD, *PATCH_FAULTS),
        *(ZERO_ATTRIBUTION, CONSTANT_ATTRIBUTION),
    }
)

FAMILIES = ("ranking", "localization", "faithfulness", "contrast", "sensitivity", "sanity", "diagnostic", "attribution")


class Metric(Protocol):
    """The members of a registered metric; its dataclass fields are its parameters.

    Besides, it has one of these:

    - ``__call__(ranking, **evidence) -> (value, reason)`` for one map, see
      :class:`~salgen.evaluation.metrics.inputs.metric_bases.MaskMetric`;
    - ``partial(rankings) -> float64 (k,)`` for one map and ``aggregate(partial) -> float64 (N,)`` once all
      maps are known, see :class:`~salgen.evaluation.metrics.inputs.metric_bases.DatasetMetric`;
    - ``measure(data) -> (values, reasons)`` for a batch, see
      :class:`~salgen.evaluation.metrics.inputs.metric_bases.ModelMetric`;
    - none of them, where whole trainings stand behind a value, see
      :class:`~salgen.evaluation.metrics.inputs.metric_bases.RetrainingMetric`.
    """

    # name, aliases: registered name, and other names that `score` takes
    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]]
    # `"sample"`: one map at a time; `"pair"`: two maps of one sample; `"dataset"`: the values of samples hang together
    kind: ClassVar[str]
    family: ClassVar[str]  # one of `FAMILIES`; also the name by which the group is chosen
    # inputs that it needs besides the map: `"mask"` (at least one pixel of it in the scored region), `"negatives"` (at
    # least one pixel outside it), `"image"`, `"target"`, `"correct"` (whether it is classified rightly), `"model"`,
    # `"method"` (which can explain again), `"twin"` (the image's twin), `"attribution"` (the exact one of a designed
    # network), `"training"`, or second maps: `"twin_maps"` (of the twins), `"patched_maps"` (of the twins with a patch
    # that the model ignores), `"paired_maps"`, `"paired_twin_maps"`, `"paired_patched_maps"` (by a second model: of the
    # images, of the twins, of these with a patch that it ignores), `"shuffled_maps"` (by a model trained on permuted
    # labels)
    needs: ClassVar[frozenset[str]]
    takes_empty_masks: ClassVar[bool]  # whether an empty mask has a value too, though the metric needs `"mask"`
    # whether it is defined for rightly classified samples only: under both models, or with and without the feature,
    # where two maps are compared
    only_correct: ClassVar[bool]
    regional: ClassVar[bool]  # whether it is scored within a region; otherwise only on the whole image
    higher_is_better: ClassVar[bool | None]  # direction; None for a diagnostic, which ranks nothing
    # smallest and largest value that any sample can have. A map that failed gets the worse of them in
    # `Scores.worst_case`, or the worst that was observed where that is infinite
    bounds: ClassVar[tuple[float, float]]
    # parameter to the values that a run takes where the call does not set it
    sweep: ClassVar[Mapping[str, tuple[Any, ...]]]
    # scale name to the parameters in which a run differs from the fields' defaults, the papers'
    scales: ClassVar[Mapping[str, Mapping[str, Any]]]
    reference: ClassVar[str]  # paper and equation
    version: ClassVar[str]  # changes whenever a value does


def compat_of(metric: Metric) -> str | None:
    """The code or paper whose deviating reading an instance follows, its field `compat`; None for the canonical one."""
    compat: str | None = getattr(metric, "compat", None)
    return compat
