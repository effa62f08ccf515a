"""Every metric on every map of a batch: those of single maps from one sort, those that ask the model together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import (
    EMPTY_MASK,
    MISCLASSIFIED,
    NO_TWIN,
    NON_FINITE_MAP,
    NOT_THE_MAPS_DOING,
    TRIVIAL_FULL_MASK,
    Metric,
)
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS, OF_THE_MASK, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.types import Float64, Scores


@dataclass
class PartialScores:
    """What is known of a batch before the other batches are: values, and the partial results of data set metrics.

    Attributes
    ----------
    values
        Metric name to float64 (N,).
    reasons
        Metric name to N strings.
    partial
        Metric of kind "dataset" to float64 (k,) for each sample, or None where its value is undefined.
    """

    values: dict[str, Float64] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    partial: dict[str, list[Float64 | None]] = field(default_factory=dict)


def compute_metrics(data: MetricInputs, metrics: Mapping[str, Metric]) -> PartialScores:
    """Every metric on every map of a batch: those of single maps together, since they share a sort."""
    scores = PartialScores()
    for name, metric in metrics.items():
        scores.values[name] = np.full(len(data), np.nan)
        scores.reasons[name] = [""] * len(data)
        if hasattr(metric, "aggregate"):
            scores.partial[name] = [None] * len(data)
    single = {name: metric for name, metric in metrics.items() if not hasattr(metric, "measure")}
    finite = np.ones(len(data), dtype=bool)
    for i in range(len(data)):
        rankings = data.rankings(i)
        for name, metric in single.items():
            _of_one(name, metric, data, i, rankings, scores)
        if len(single) < len(metrics):
            finite[i] = np.isfinite(data.maps[i]).all()
    for name in [name for name in metrics if name not in single]:
        _of_batch(name, metrics[name], data, np.flatnonzero(finite), scores)
    return scores


def aggregate_scores(metrics: Mapping[str, Metric], partial: PartialScores) -> Scores:
    """The scores of all samples, from their partial scores."""
    scores = Scores()
    for name, metric in metrics.items():
        values, reasons = partial.values[name], partial.reasons[name]
        if name in partial.partial:
            values = aggregate_partial(metric, values, partial.partial[name])
        scores[name], scores.reasons[name] = values, reasons
        scores.worst_case[name] = fill_worst(metric, worst_case(metric, values, reasons), values)
    return scores


def aggregate_partial(metric: Any, values: Float64, partial: list[Float64 | None]) -> Float64:
    """The values of a data set metric for all samples of one method."""
    known = [i for i, found in enumerate(partial) if found is not None]
    result = values.copy()
    if known:
        kept = [np.asarray(found, dtype=np.float64) for found in partial if found is not None]
        if kept[0].ndim != 1 or any(found.shape != kept[0].shape for found in kept):
            raise SalgenError(f"metric {metric.name!r}: partial() must return float64 (k,), k alike for all maps")
        settled = np.asarray(metric.aggregate(np.stack(kept)), dtype=np.float64)
        if settled.shape != (len(known),):
            raise SalgenError(f"metric {metric.name!r}: aggregate() must give one value for each of {len(known)} maps")
        result[known] = settled
    return result


def worst_of(metric: Metric) -> float:
    """What a map that failed gets: the worse bound, which may be infinite; NaN for a diagnostic."""
    if metric.higher_is_better is None:
        return math.nan
    return metric.bounds[0] if metric.higher_is_better else metric.bounds[1]


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


def _of_batch(name: str, metric: Any, data: MetricInputs, finite: NDArray[np.int64], scores: PartialScores) -> None:
    """A metric of whole batches, on the maps that are finite."""
    twins = data.twins if "twin" in metric.needs else None
    reasons = [NON_FINITE_MAP if twins is None or twins[i] is not None else NO_TWIN for i in range(len(data))]
    if len(finite):
        usable = data.cached(("finite", finite.tobytes()), lambda: data.take(finite))
        values, found = metric.measure(usable)
        if np.shape(values) != (len(finite),) or len(found) != len(finite):
            raise SalgenError(
                f"metric {name!r}: measure() returned values of shape {np.shape(values)} and {len(found)} reasons for "
                f"{len(finite)} maps, and must return one of each for every map"
            )
        scores.values[name][finite] = values
        for place, reason in zip(finite, found, strict=True):
            reasons[place] = reason
    scores.reasons[name] = reasons


def _of_one(
    name: str, metric: Any, data: MetricInputs, index: int, rankings: list[Ranking], scores: PartialScores
) -> None:
    """One metric on one map: the value under the acceptable mask that suits the map best."""
    extra = _evidence_for(metric, data, index)
    if "mask" in metric.needs and len(rankings) > 1:
        rankings = [ranking for ranking in rankings if ranking.p] or rankings[:1]
    if isinstance(extra, str):
        fault = _fault(metric, rankings[0])
        scores.reasons[name][index] = fault if fault in NOT_THE_MAPS_DOING else extra
        return
    if name in scores.partial:
        reason = _fault(metric, rankings[0])
        scores.partial[name][index] = None if reason else metric.partial(rankings)
        trivial = "mask" in metric.needs and all(ranking.n == 0 for ranking in rankings)
        scores.reasons[name][index] = reason or (TRIVIAL_FULL_MASK if trivial else "")
        return
    results = [_under(metric, ranking, extra) for ranking in rankings]
    direction = -1.0 if metric.higher_is_better is False else 1.0
    best = max(results, key=lambda result: -math.inf if math.isnan(result[0]) else direction * result[0])
    scores.values[name][index], scores.reasons[name][index] = best


def _evidence_for(metric: Metric, data: MetricInputs, index: int) -> dict[str, Any] | str:
    """What a metric needs of one sample besides map and mask, or why there is none."""
    extra: dict[str, Any] = {}
    if metric.needs <= OF_THE_MASK and not metric.only_correct:
        return extra
    for need in metric.needs - OF_THE_MASK:
        if need in COUNTERPARTS:
            other = data.counterparts[need]
            if not other.there[index]:
                return NO_TWIN
            if other.faults and other.faults[index]:
                return other.faults[index]
            extra[need.removesuffix("s")] = other.maps[index]
        else:
            known: dict[str, Any] = {
                "image": data.images,
                "target": data.targets,
                "correct": data.correct,
                "twin": data.twins,
            }
            extra[need] = known[need][index]
            if extra[need] is None:
                return NO_TWIN
    if not data.counts(metric, index):
        return MISCLASSIFIED
    valid = data.valid[index] if data.valid is not None else True
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
