"""Score: maps against masks, all metrics from one sort per map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.metrics import EMPTY_MASK, MASK_FAULTS, NON_FINITE_MAP, TRIVIAL_FULL_MASK, Metric
from salgen.evaluation.ranking import Ranking, Values
from salgen.parameters import build, call_text, parse_call
from salgen.registry import METRICS
from salgen.types import Mask, SaliencyMap, Scores

ALL = "all"
OF_THE_MASK = frozenset({"mask", "negatives"})

Metrics = str | Metric | Sequence[str | Metric] | Mapping[str, Metric]


def score(
    maps: Any,
    masks: Any,
    metrics: Metrics,
    valid: Any = None,
    twins: Any = None,
    model: Any = None,
    images: Any = None,
    targets: Any = None,
) -> Scores:
    """Score saliency maps against ground-truth masks.

    Parameters
    ----------
    maps
        What `explain` returned, or (N, H, W): a NumPy array or a tensor on any device, real. float32 and
        float64 are ranked in their own type, so ties are exact; others are converted. Signs count:
        nothing is made absolute.
    masks
        bool (or 0 and 1) (N, H, W), or (N, K, H, W) for K acceptable masks, of which the best counts;
        an empty one of the K is passed over.
    metrics
        Names, calls such as ``"prec99:authors_exact=true"``, metric instances, or ``"all"``: every
        registered metric that what is given suffices for. A mapping gives instances names of its own.
    valid
        bool (H, W) or (N, H, W): the scored region. What lies outside it is don't-care: its values,
        NaN included, and its mask pixels do not count.
    twins, model, images, targets
        What metrics may need besides the mask: arrays of N, and one model.

    Returns
    -------
    Scores
        Metric name as given (for an instance: its call) to float64 (N,). A full mask is scored with
        the reason ``trivial_full_mask``. NaN where undefined, with a reason, and in `worst_case`

        - NaN still, where the mask is at fault, which drops the sample for every method alike:
          ``empty_mask``, and ``trivial_full_mask`` where the metric needs other pixels;
        - the metric's worst value where the map is at fault: ``non_finite_map``, ``zero_energy``,
          ``too_few_negatives`` (a better map has a value on the same mask), and reasons of other plug-ins.

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
    values = _as_maps(maps)
    accepted = _as_masks(masks, values.shape)
    region = _as_valid(valid, values.shape)
    offered = {"twin": twins, "model": model, "image": images, "target": targets}
    given = {name: value for name, value in offered.items() if value is not None}
    chosen = choose_metrics(metrics, given)
    _check_given(given, len(values))
    _check_metrics(chosen, given, accepted.shape[1])
    scores = _empty_scores(chosen, len(values))
    for i in range(len(values)):
        rankings = [Ranking(values[i], mask, None if region is None else region[i]) for mask in accepted[i]]
        sample = {name: value if name == "model" else value[i] for name, value in given.items()}
        for name, metric in chosen.items():
            evidence = {need: sample[need] for need in metric.needs - OF_THE_MASK}
            value, reason = _best(metric, rankings, evidence)
            scores[name][i], scores.reasons[name][i] = value, reason
            failed = math.isnan(value) and reason not in MASK_FAULTS
            scores.worst_case[name][i] = metric.worst if failed else value
    return scores


def choose_metrics(metrics: Metrics, given: Sequence[str] | Mapping[str, Any] = ()) -> dict[str, Metric]:
    """Metrics by name; ``"all"`` stands for those of single samples that need no more than `given`."""
    if isinstance(metrics, Mapping):
        return dict(metrics)
    chosen: dict[str, Metric] = {}
    for item in [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else metrics:
        if item == ALL:
            every: dict[str, Metric] = {name: METRICS.create(name) for name in METRICS.names()}
            chosen |= {name: m for name, m in every.items() if m.kind == "sample" and not _missing(m, given)}
        elif isinstance(item, str):
            chosen[item] = create_metric(item)
        elif isinstance(item, type) or not hasattr(item, "needs"):
            raise SalgenError(f"{item!r} is not a metric: give a name such as 'roc-auc', or an instance")
        else:
            chosen[call_text(item)] = item
    return chosen


def create_metric(call: str) -> Metric:
    """A metric from ``"name"`` or ``"name:key=value,..."``; a name may be an alias."""
    name, values = parse_call(call)
    if name in METRICS.entries:
        found = METRICS.load(name)
    else:
        classes = {alias: cls for cls in map(METRICS.load, METRICS.names()) for alias in cls.aliases}
        if name not in classes:
            raise unknown_name("metric", name, METRICS.names())
        found = classes[name]
    metric: Metric = build(found, values)
    return metric


def _best(metric: Metric, rankings: Sequence[Ranking], evidence: Mapping[str, Any]) -> tuple[float, str]:
    """The value under the acceptable mask that suits the map best."""
    if "mask" in metric.needs and len(rankings) > 1:
        rankings = [ranking for ranking in rankings if ranking.p] or rankings[:1]
    results = [_one(metric, ranking, evidence) for ranking in rankings]
    direction = 1.0 if metric.higher_is_better else -1.0
    return max(results, key=lambda result: -math.inf if math.isnan(result[0]) else direction * result[0])


def _one(metric: Metric, ranking: Ranking, evidence: Mapping[str, Any]) -> tuple[float, str]:
    """The value under one mask; a fault of the mask goes before a fault of the map."""
    if "mask" in metric.needs and ranking.p == 0:
        return math.nan, EMPTY_MASK
    if "negatives" in metric.needs and ranking.n == 0:
        return math.nan, TRIVIAL_FULL_MASK
    if not ranking.finite:
        return math.nan, NON_FINITE_MAP
    value, reason = metric(ranking, **evidence)
    trivial = "mask" in metric.needs and ranking.n == 0 and not reason
    return value, TRIVIAL_FULL_MASK if trivial else reason


def _empty_scores(chosen: Mapping[str, Metric], count: int) -> Scores:
    scores = Scores()
    for name in chosen:
        scores[name] = np.full(count, np.nan)
        scores.worst_case[name] = np.full(count, np.nan)
        scores.reasons[name] = [""] * count
    return scores


# What may be given ------------------------------------------------------------------------------------


def _as_maps(maps: Any) -> Values:
    array = _as_array(maps.values if isinstance(maps, SaliencyMap) else maps)
    if array.ndim != 3:
        raise SalgenError(f"maps have shape {array.shape}: must be (N, H, W), one map per image")
    if array.dtype.kind not in "fiub":
        raise SalgenError(f"maps are of type {array.dtype}: must be real numbers")
    small = array.dtype.kind in "fb" and array.dtype.itemsize <= 4
    return array.astype(np.float32 if small else np.float64, copy=False)


def _as_masks(masks: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Masks as bool (N, K, H, W)."""
    array = _as_bool(masks, "masks")
    if array.shape == shape:
        return array[:, np.newaxis]
    if array.ndim == 4 and array.shape[1] and (array.shape[0], *array.shape[2:]) == shape:
        return array
    raise SalgenError(
        f"masks have shape {array.shape} and maps {shape}: "
        "masks must be (N, H, W) like the maps, or (N, K, H, W) for K acceptable masks"
    )


def _as_valid(valid: Any, shape: tuple[int, ...]) -> Mask | None:
    if valid is None:
        return None
    array = _as_bool(valid, "valid")
    if array.shape not in (shape, shape[1:]):
        raise SalgenError(f"valid has shape {array.shape} and maps {shape}: valid must be (H, W) or (N, H, W)")
    return np.broadcast_to(array, shape)


def _as_bool(values: Any, what: str) -> NDArray[np.bool_]:
    array = _as_array(values)
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "fiu":
        raise SalgenError(f"{what} are of type {array.dtype}: must be bool, or 0 and 1")
    other = array[(array != 0) & (array != 1)]
    if other.size:
        raise SalgenError(
            f"{what} hold the value {other[0]}: must be bool, or 0 and 1; compare first, as in {what} > 0"
        )
    return array.astype(np.bool_)


def _as_array(values: Any) -> NDArray[Any]:
    """A NumPy array of an array or a tensor; torch is not imported."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
    try:
        return np.asarray(values)
    except ValueError as error:  # ragged lists
        raise SalgenError(f"not an array: {error}") from None


def _check_given(given: Mapping[str, Any], count: int) -> None:
    for name, value in given.items():
        if name != "model" and len(value) != count:
            raise SalgenError(f"{name}s: {len(value)} of them for {count} maps; give one per map")


def _check_metrics(chosen: Mapping[str, Metric], given: Mapping[str, Any], masks: int) -> None:
    if not chosen:
        raise SalgenError("no metric was chosen")
    for name, metric in chosen.items():
        if metric.kind != "sample":
            raise SalgenError(f"metric {name!r} is of kind {metric.kind!r}: score takes metrics of single samples")
        if missing := _missing(metric, given):
            raise SalgenError(f"metric {name!r} needs a {missing[0]} for each map, which is not given")
        if masks > 1 and not metric.best_of:
            raise SalgenError(f"metric {name!r} takes one mask per map: masks hold {masks}; give their union, or one")


def _missing(metric: Metric, given: Sequence[str] | Mapping[str, Any]) -> list[str]:
    return sorted(metric.needs - OF_THE_MASK - set(given))
