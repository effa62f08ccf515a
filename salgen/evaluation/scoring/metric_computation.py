"""Every metric on every map of a batch: those of single maps from one sort, those that ask the model together."""

import math
from collections.abc import Mapping, Sequence
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
    TRIVIAL_FULL_MASK,
    UNUSABLE_SAMPLE,
    Metric,
)
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS, FIELDS, OF_THE_MASK, OWN, PAIRED, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.types import Float64, Scores


@dataclass
class PartialScores:
    """The scores of one batch before the rest: values, and the partial results of data set metrics."""

    values: dict[str, Float64] = field(default_factory=dict)  # metric name to float64 (N,)
    reasons: dict[str, list[str]] = field(default_factory=dict)  # metric name to N strings
    # metric of kind "dataset" to float64 (k,) for each sample, or None where its value is undefined
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
    for i in range(len(data)):
        rankings = data.rankings(i) if single else []
        for name, metric in single.items():
            _compute_one(name, metric, data, i, rankings, scores)
    finite = np.array([i for i, saliency in enumerate(data.maps) if np.isfinite(saliency).all()], dtype=np.int64)
    for name in [name for name in metrics if name not in single]:
        _compute_batch(name, metrics[name], data, finite, scores)
    return scores


def aggregate_scores(metrics: Mapping[str, Metric], partial: PartialScores) -> Scores:
    """The scores of all samples, from their partial scores."""
    scores = Scores()
    for name, metric in metrics.items():
        values, reasons = partial.values[name], partial.reasons[name]
        if name in partial.partial:
            values = aggregate_partial(metric, values, partial.partial[name])
        scores[name], scores.reasons[name] = values, reasons
        worst, observed = worst_case(metric, values, reasons), values[np.isfinite(values)]
        if np.isinf(worst).any():
            extreme = (observed.min() if metric.higher_is_better else observed.max()) if observed.size else math.nan
            worst = np.where(np.isinf(worst), extreme, worst)
        scores.worst_case[name] = worst
    return scores


def aggregate_partial(metric: Any, values: Float64, partial: list[Float64 | None]) -> Float64:
    """The values of a data set metric for all samples of one method."""
    rows = [i for i, item in enumerate(partial) if item is not None]
    result = values.copy()
    if rows:
        results = [np.asarray(item, dtype=np.float64) for item in partial if item is not None]
        aggregated = np.asarray(metric.aggregate(np.stack(results)), dtype=np.float64)
        if aggregated.shape != (len(rows),):
            raise SalgenError(f"metric {metric.name!r}: aggregate() must give one value for each of {len(rows)} maps")
        result[rows] = aggregated
    return result


def worst_of(metric: Metric) -> float:
    """What a map that failed gets: the worse bound, which may be infinite; NaN for a diagnostic."""
    if metric.higher_is_better is None:
        return math.nan
    return metric.bounds[0] if metric.higher_is_better else metric.bounds[1]


def worst_case(metric: Metric, values: Float64, reasons: list[str]) -> Float64:
    """The values, with the worst possible one (which may be infinite) where the map is at fault."""
    at_fault = [bool(np.isnan(v)) and r not in UNUSABLE_SAMPLE for v, r in zip(values, reasons, strict=True)]
    return np.where(at_fault, worst_of(metric), values)


def _compute_batch(
    name: str, metric: Any, data: MetricInputs, finite: NDArray[np.int64], scores: PartialScores
) -> None:
    """Compute a metric of whole batches, on the maps that are finite, and have a twin where it needs one."""
    twins = data.twins if "twin" in metric.needs else None
    reasons = [NON_FINITE_MAP if twins is None or twins[i] is not None else NO_TWIN for i in range(len(data))]
    finite = finite if twins is None else np.array([i for i in finite if twins[i] is not None], dtype=np.int64)
    if len(finite):
        usable = data.cached(("finite", finite.tobytes()), lambda: data.take(finite))
        values, new_reasons = metric.measure(usable)
        if np.shape(values) != (len(finite),) or len(new_reasons) != len(finite):
            raise SalgenError(f"metric {name!r}: measure() must give a value and a reason for {len(finite)} maps")
        scores.values[name][finite] = values
        for index, reason in zip(finite, new_reasons, strict=True):
            reasons[index] = reason
    scores.reasons[name] = reasons


def _compute_one(
    name: str, metric: Any, data: MetricInputs, index: int, rankings: Sequence[Ranking], scores: PartialScores
) -> None:
    """Compute one metric on one map: its best value over the acceptable masks."""
    inputs = _sample_inputs(metric, data, index)
    if "mask" in metric.needs and len(rankings) > 1:
        rankings = [ranking for ranking in rankings if ranking.p] or rankings[:1]
    if isinstance(inputs, str):
        fault = _fault(metric, rankings[0])
        scores.reasons[name][index] = fault if fault in UNUSABLE_SAMPLE else inputs
        return
    if name in scores.partial:
        reason = _fault(metric, rankings[0])
        scores.partial[name][index] = None if reason else metric.partial(rankings)
        trivial = "mask" in metric.needs and all(ranking.n == 0 for ranking in rankings)
        scores.reasons[name][index] = reason or (TRIVIAL_FULL_MASK if trivial else "")
        return
    results = [_value_under_mask(metric, ranking, inputs) for ranking in rankings]
    direction = -1.0 if metric.higher_is_better is False else 1.0
    best = max(results, key=lambda result: -math.inf if math.isnan(result[0]) else direction * result[0])
    scores.values[name][index], scores.reasons[name][index] = best


def _sample_inputs(metric: Metric, data: MetricInputs, index: int) -> dict[str, Any] | str:
    """The inputs that a metric needs of one sample besides map and mask, or the reason why it has no value."""
    inputs: dict[str, Any] = {}
    if metric.needs <= OF_THE_MASK and not metric.only_correct:
        return inputs
    for need in metric.needs - OF_THE_MASK:
        if need in COUNTERPARTS:
            counterpart = data.counterparts[need]
            if not counterpart.there[index]:
                return NO_TWIN
            if counterpart.faults and counterpart.faults[index]:
                return counterpart.faults[index]
            inputs[need.removesuffix("s")] = counterpart.maps[index]
        else:
            inputs[need] = getattr(data, FIELDS[need])[index]
            if inputs[need] is None:
                return NO_TWIN
    if metric.only_correct:
        right = [data.counterparts[need].correct[index] for need in metric.needs & set(COUNTERPARTS)]
        if data.correct is not None and getattr(metric, "of", OWN) != PAIRED:
            right.append(data.correct[index])
        if not all(right):
            return MISCLASSIFIED
    valid = data.valid[index] if data.valid is not None else True
    second_maps = [value for need, value in inputs.items() if need.endswith("_map")]
    if not all(np.isfinite(second_map).all(where=valid) for second_map in second_maps):
        return NON_FINITE_MAP
    return inputs


def _value_under_mask(metric: Any, ranking: Ranking, inputs: Mapping[str, Any]) -> tuple[float, str]:
    """The value and reason under one mask."""
    if reason := _fault(metric, ranking):
        return math.nan, reason
    value, reason = metric(ranking, **inputs)
    trivial = "mask" in metric.needs and ranking.n == 0 and not reason
    return value, TRIVIAL_FULL_MASK if trivial else reason


def _fault(metric: Metric, ranking: Ranking) -> str:
    """The reason why a metric is undefined for a mask or a map, or ""; faults of the mask come first."""
    unmarked = "mask" in metric.needs and not metric.takes_empty_masks
    if ranking.p == 0 and (unmarked or ranking.n == 0):  # without a pixel to score no mask is of use
        return EMPTY_MASK
    if "negatives" in metric.needs and ranking.n == 0:
        return TRIVIAL_FULL_MASK
    return "" if ranking.finite else NON_FINITE_MAP
