"""Score: maps against masks and models, all ranking metrics from one sort per map."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.evidence import COUNTERPARTS, OF_THE_MASK, Evidence
from salgen.evaluation.metric_selection import Metrics, choose_metrics
from salgen.evaluation.metrics import (
    EMPTY_MASK,
    MISCLASSIFIED,
    NO_TWIN,
    NON_FINITE_MAP,
    NOT_THE_MAPS_DOING,
    TRIVIAL_FULL_MASK,
    Metric,
    worst_of,
)
from salgen.evaluation.ranking import Ranking
from salgen.evaluation.score_inputs import evidence_of
from salgen.types import Float64, Scores

HOW_TO_GIVE = {
    "mask": "masks=",
    "negatives": "masks=",
    "image": "images=",
    "target": "targets=",
    "correct": "correct=",
    "twin": "twins=",
    "model": "model=",
    "method": "model=, images=, targets= and method=, or the SaliencyMap that salgen.explain returned",
    "twin_maps": "twin_maps=",
    "paired_maps": "paired_maps=",
    "shuffled_maps": "shuffled_maps=",
}


def score(
    maps: Any,
    masks: Any = None,
    metrics: Metrics = "all",
    valid: Any = None,
    twins: Any = None,
    model: Any = None,
    images: Any = None,
    targets: Any = None,
    *,
    method: Any = None,
    twin_maps: Any = None,
    paired_maps: Any = None,
    shuffled_maps: Any = None,
    correct: Any = None,
    ids: Any = None,
    seed: int = 0,
    max_memory: float | None = None,
) -> Scores:
    """Score saliency maps against ground-truth masks, and against the model that they explain.

    Parameters
    ----------
    maps
        What `explain` returned, or (N, H, W): a NumPy array or a tensor on any device, real. float32 and
        float64 are ranked in their own type, so ties are exact; others are converted. Signs count:
        nothing is made absolute.
    masks
        bool (or 0 and 1) (N, H, W), or (N, K, H, W) for K acceptable masks, of which the best counts;
        an empty one of the K is passed over. None for metrics that need no mask.
    metrics
        Names, calls such as ``"prec99:compat=authors_exact"``, metric instances, families, or ``"all"``:
        every registered metric that what is given suffices for. A mapping gives instances names of its
        own.
    valid
        bool (H, W) or (N, H, W): the scored region. What lies outside it is don't-care: its values,
        NaN included, and its mask pixels do not count. Metrics that ask a model look at the whole map.
    twins
        The images without the feature, one for each map: (N, C, H, W), or a list with None.
    model, images, targets
        A ``torch.nn.Module``, its images (N, C, H, W) as `explain` takes them, and the classes that the
        maps explain, integers (N,).
    method
        The method's call, for metrics that explain again; by default that of a `SaliencyMap`. Or a
        function ``(model, images, targets) -> maps``, given tensors.
    twin_maps, paired_maps, shuffled_maps
        As `maps`: of the twins by the same method, model and targets; of the same images under a second
        model; under a model that was trained on permuted labels.
    correct
        bool (N,): which samples are classified rightly (where two maps are compared: both times), for
        metrics that are defined for those only; all by default.
    ids, seed
        What keys the randomness of metrics that have any; ids are "0", "1", ... by default.
    max_memory
        GB that asking the model may use; half of what is free by default.

    Returns
    -------
    Scores
        Metric name as given (for an instance: its call) to float64 (N,). A full mask is scored with
        the reason ``trivial_full_mask``. NaN where undefined, with a reason, and in `worst_case`

        - NaN still, where the map is not at fault, which drops the sample for every method alike:
          ``empty_mask``, ``trivial_full_mask`` where the metric needs other pixels, ``misclassified``,
          ``no_twin``;
        - the metric's worst value, or the worst that another map has where it is unbounded, where the map
          is at fault: ``non_finite_map``, ``zero_energy``, ``too_few_negatives`` (a better map has a value
          on the same mask), and reasons of other plug-ins.

    Raises
    ------
    SalgenError
        If shapes do not fit, an array holds what it may not, a metric is unknown, or one needs
        something that is not given.

    Examples
    --------
    >>> maps = np.array([[[0.9, 0.2], [0.2, 0.1]]])
    >>> masks = np.array([[[True, True], [False, False]]])
    >>> score(maps, masks, ["roc-auc", "m-gt"])
    {'roc-auc': array([0.875]), 'm-gt': array([0.75])}
    """
    others = {"twin_maps": twin_maps, "paired_maps": paired_maps, "shuffled_maps": shuffled_maps}
    evidence = evidence_of(
        maps, masks, valid, twins, model, images, targets, method, others, correct, ids, seed, max_memory
    )
    chosen = choose_metrics(metrics, evidence.given)
    check_needs(chosen, evidence.given)
    _check_one_mask(chosen, evidence)
    return settled(chosen, measure(evidence, chosen))


@dataclass
class Measured:
    """What is known of a batch before the other batches are: values, and the measures of data set metrics.

    Attributes
    ----------
    values
        Metric name to float64 (N,).
    reasons
        Metric name to N strings.
    measures
        Metric of kind "dataset" to float64 (k,) for each sample, or None where its value is undefined.
    """

    values: dict[str, Float64] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    measures: dict[str, list[Float64 | None]] = field(default_factory=dict)


def measure(evidence: Evidence, metrics: Mapping[str, Metric]) -> Measured:
    """Every metric on every map of a batch: those of single maps together, since they share a sort."""
    measured = Measured()
    for name, metric in metrics.items():
        measured.values[name] = np.full(len(evidence), np.nan)
        measured.reasons[name] = [""] * len(evidence)
        if hasattr(metric, "settle"):
            measured.measures[name] = [None] * len(evidence)
    single = {name: metric for name, metric in metrics.items() if not hasattr(metric, "measure")}
    finite = np.ones(len(evidence), dtype=bool)
    for i in range(len(evidence)):
        rankings = evidence.rankings(i)
        for name, metric in single.items():
            _of_one(name, metric, evidence, i, rankings, measured)
        if len(single) < len(metrics):
            finite[i] = np.isfinite(evidence.maps[i]).all()
    for name in [name for name in metrics if name not in single]:
        _of_batch(name, metrics[name], evidence, np.flatnonzero(finite), measured)
    return measured


def settled(metrics: Mapping[str, Metric], measured: Measured) -> Scores:
    """The scores of all samples, from what was measured of them."""
    scores = Scores()
    for name, metric in metrics.items():
        values, reasons = measured.values[name], measured.reasons[name]
        if name in measured.measures:
            values = settle(metric, values, measured.measures[name])
        scores[name], scores.reasons[name] = values, reasons
        scores.worst_case[name] = fill_worst(metric, worst_case(metric, values, reasons), values)
    return scores


def settle(metric: Any, values: Float64, measures: list[Float64 | None]) -> Float64:
    """The values of a data set metric for all samples of one method."""
    known = [i for i, found in enumerate(measures) if found is not None]
    result = values.copy()
    if known:
        result[known] = metric.settle(np.stack([found for found in measures if found is not None]))
    return result


def worst_case(metric: Metric, values: Float64, reasons: list[str]) -> Float64:
    """The values, with the worst there is (which may be infinite) where the map is at fault."""
    at_fault = [bool(np.isnan(v)) and r not in NOT_THE_MAPS_DOING for v, r in zip(values, reasons, strict=True)]
    return np.where(at_fault, worst_of(metric), values)


def fill_worst(metric: Metric, worst: Float64, observed: Float64) -> Float64:
    """Where the worst that there is is infinite, the worst that was observed, if any was."""
    known = observed[np.isfinite(observed)]
    if not np.isinf(worst).any():
        return worst
    extreme = math.nan if not known.size else float(known.min() if metric.higher_is_better else known.max())
    return np.where(np.isinf(worst), extreme, worst)


def check_needs(metrics: Mapping[str, Metric], given: frozenset[str]) -> None:
    """Raise a SalgenError if no metric was chosen, or one needs what is not there."""
    if not metrics:
        raise SalgenError("no metric was chosen")
    for name, metric in metrics.items():
        missing = sorted(metric.needs - given)
        if "training" in missing:
            raise SalgenError(f"metric {name!r} trains models again, which takes a data set: use salgen.evaluate")
        if missing:
            raise SalgenError(f"metric {name!r} needs what is not given: {HOW_TO_GIVE.get(missing[0], missing[0])}")


def _check_one_mask(metrics: Mapping[str, Metric], evidence: Evidence) -> None:
    count = 1 if evidence.masks is None else evidence.masks.shape[1]
    for name, metric in metrics.items():
        if count > 1 and metric.kind == "pair" and "mask" in metric.needs:
            raise SalgenError(f"metric {name!r} takes one mask per map: masks hold {count}; give their union, or one")


def _of_batch(name: str, metric: Any, evidence: Evidence, finite: NDArray[np.int64], measured: Measured) -> None:
    """A metric of whole batches, on the maps that are finite."""
    reasons = [NON_FINITE_MAP] * len(evidence)
    if len(finite):
        usable = evidence.once(("finite", finite.tobytes()), lambda: evidence.take(finite))
        values, found = metric.measure(usable)
        measured.values[name][finite] = values
        for place, reason in zip(finite, found, strict=True):
            reasons[place] = reason
    measured.reasons[name] = reasons


def _of_one(
    name: str, metric: Any, evidence: Evidence, index: int, rankings: list[Ranking], measured: Measured
) -> None:
    """One metric on one map: the value under the acceptable mask that suits the map best."""
    extra = _evidence_for(metric, evidence, index)
    if isinstance(extra, str):
        measured.reasons[name][index] = extra
        return
    if "mask" in metric.needs and len(rankings) > 1:
        rankings = [ranking for ranking in rankings if ranking.p] or rankings[:1]
    if name in measured.measures:
        reason = _fault(metric, rankings[0])
        measured.measures[name][index] = None if reason else metric.measures(rankings)
        trivial = "mask" in metric.needs and all(ranking.n == 0 for ranking in rankings)
        measured.reasons[name][index] = reason or (TRIVIAL_FULL_MASK if trivial else "")
        return
    results = [_under(metric, ranking, extra) for ranking in rankings]
    direction = -1.0 if metric.higher_is_better is False else 1.0
    best = max(results, key=lambda result: -math.inf if math.isnan(result[0]) else direction * result[0])
    measured.values[name][index], measured.reasons[name][index] = best


def _evidence_for(metric: Metric, evidence: Evidence, index: int) -> dict[str, Any] | str:
    """What a metric needs of one sample besides map and mask, or why there is none."""
    extra: dict[str, Any] = {}
    if metric.needs <= OF_THE_MASK and not metric.only_correct:
        return extra
    for need in metric.needs - OF_THE_MASK:
        if need in COUNTERPARTS:
            other = evidence.counterparts[need]
            if not other.there[index]:
                return NO_TWIN
            extra[need.removesuffix("s")] = other.maps[index]
        else:
            known: dict[str, Any] = {
                "image": evidence.images,
                "target": evidence.targets,
                "correct": evidence.correct,
                "twin": evidence.twins,
            }
            extra[need] = known[need][index]
            if extra[need] is None:
                return NO_TWIN
    if not evidence.counts(metric, index):
        return MISCLASSIFIED
    valid = evidence.valid[index] if evidence.valid is not None else True
    seconds = [value for need, value in extra.items() if need.endswith("_map")]
    if not all(np.isfinite(second).all(where=valid) for second in seconds):
        return NON_FINITE_MAP
    return extra


def _under(metric: Any, ranking: Ranking, extra: Mapping[str, Any]) -> tuple[float, str]:
    """The value under one mask."""
    if reason := _fault(metric, ranking):
        return math.nan, reason
    value, reason = metric(ranking, **extra)
    trivial = "mask" in metric.needs and ranking.n == 0 and not reason
    return value, TRIVIAL_FULL_MASK if trivial else reason


def _fault(metric: Metric, ranking: Ranking) -> str:
    """Why a metric is undefined for a mask or a map, or ""; a fault of the mask goes first."""
    if "mask" in metric.needs and ranking.p == 0 and not metric.takes_empty_masks:
        return EMPTY_MASK
    if "negatives" in metric.needs and ranking.n == 0:
        return TRIVIAL_FULL_MASK
    return "" if ranking.finite else NON_FINITE_MAP
