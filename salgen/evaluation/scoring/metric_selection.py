"""The metrics chosen by names, calls with parameters, groups, and sweeps over a parameter."""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any
from salgen.errors import SalgenError, unknown_name, warn
from salgen.evaluation.metrics.inputs.metric import FAMILIES, Metric, compat_of
from salgen.parameters import build, call_text, parse_call
from salgen.registry import METRICS

ALL = "all"
DEFAULT = ("roc-auc", "average-precision", "prec99", "m-gt", "relevance-mass", "pointing-game")
SEPARATOR = "|"

Metrics = str | Metric | Sequence[str | Metric] | Mapping[str, str | Metric]

HOW_TO_GIVE = {
    "mask": "masks=",
    "negatives": "masks=",
    "image": "images=",
    "target": "targets=",
    "correct": "correct=",
    "twin": "twins=",
    "attribution": "attributions= (a run has them where a designed network is evaluated on the data of its generator)",
    "model": "model=",
    "method": "model=, images=, targets= and method= (or the SaliencyMap that salgen.explain returned), and patterns= "
    "for a method that is fitted",
    "twin_maps": "twin_maps=",
    "patched_maps": "patched_maps=",
    "paired_maps": "paired_maps=",
    "shuffled_maps": "shuffled_maps=",
}


def choose_metrics(metrics: Metrics, available: Collection[str] = ()) -> dict[str, Metric]:
    """Metrics by name.

    Parameters
    ----------
    metrics
        Names, calls, instances, or groups: ``"all"`` and the families stand for those metrics that need
        no more than `available`. A value such as ``0.1|0.2`` stands for a metric with each of them. A mapping
        gives instances names of its own.
    available
        Names of the inputs that are given, see :attr:`Metric.needs`.

    Examples
    --------
    >>> list(choose_metrics(["roc-auc", "iou:threshold=0.3|0.5"]))
    ['roc-auc', 'iou:threshold=0.3', 'iou']
    """
    if isinstance(metrics, Mapping):
        return {
            name: create_metric(item) if isinstance(item, str) else _instance(item) for name, item in metrics.items()
        }
    chosen: dict[str, Metric] = {}
    for item in [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else metrics:
        if not isinstance(item, str):
            chosen[call_text(_instance(item))] = item
        elif item == ALL or item in FAMILIES:
            chosen |= _group(item, available)
        elif SEPARATOR in item:
            chosen |= {call_text(metric): metric for metric in map(create_metric, alternatives(item))}
        else:
            chosen[item] = create_metric(item)
    return chosen


def swept(calls: Sequence[str], available: Collection[str] = (), scale: str = "full") -> dict[str, Metric]:
    """The metrics of :func:`choose_metrics` with the scale's defaults, swept ones with each of their values.

    A parameter that the call sets is neither swept nor the scale's.
    """
    chosen: dict[str, Metric] = {}
    for call in calls:
        for metric in choose_metrics(call, available).values():
            fixed = set() if call == ALL or call in FAMILIES else {key.replace("-", "_") for key in parse_call(call)[1]}
            sweeps = {key: values for key, values in metric.sweep.items() if key not in fixed}
            scaled = {key: value for key, value in metric.scales.get(scale, {}).items() if key not in fixed}
            for values in product(*sweeps.values()):
                variant: Any = dataclasses.replace(metric, **scaled, **dict(zip(sweeps, values, strict=True)))
                chosen[call_text(variant)] = variant
    return chosen


def resolve_metrics(
    calls: Sequence[str] | None,
    earlier: Sequence[str],
    scale: str,
    offered: frozenset[str],
    why_missing: Mapping[str, str],
    by_name_only: frozenset[str] = frozenset(),
) -> dict[str, Metric]:
    """The metrics of a run by their calls, after those of an `earlier` one, which has its defaults.

    `offered` names the inputs that the run can provide. `why_missing` gives for others the words that follow the
    metric's name in an error; the first one counts. No group includes metrics with inputs `by_name_only`.
    """
    chosen = {call: create_metric(call) for call in earlier}
    chosen |= swept(calls or (() if earlier else DEFAULT), offered - by_name_only, scale)
    for call, metric in chosen.items():
        for need, why in why_missing.items():
            if need in metric.needs - offered:
                raise SalgenError(f"metric {call!r} {why}")
    check_needs(chosen, offered)
    return chosen


def warn_of_left_out(
    calls: Sequence[str], chosen: Mapping[str, Metric], available: frozenset[str], reasons: Mapping[str, frozenset[str]]
) -> None:
    """Warn of the metrics that groups among the calls leave out.

    `available` names the inputs of metrics in groups, and `reasons` gives in words why others are left out.
    """
    groups, names = [call for call in calls if call in (ALL, *FAMILIES)], {metric.name for metric in chosen.values()}
    every = choose_metrics(groups, {*HOW_TO_GIVE, "training"})
    needs = {name: metric.needs - available for name, metric in every.items() if name not in names}
    lacking = {why: [name for name in needs if needs[name] & inputs] for why, inputs in reasons.items()}
    if left_out := "; ".join(f"{', '.join(metrics)}, {why}" for why, metrics in lacking.items() if metrics):
        warn(f"metrics left out of {', '.join(groups)}: {left_out}")


def check_needs(metrics: Mapping[str, Metric], available: frozenset[str]) -> None:
    """Raise a SalgenError if no metric was chosen, or one needs an input that is not given."""
    if not metrics:
        inputs = ", ".join(sorted(available)) or "maps alone"
        raise SalgenError(f"no metric was chosen, or none of its group can be computed from {inputs}")
    for name, metric in metrics.items():
        missing = sorted(metric.needs - available)
        if "training" in missing:
            raise SalgenError(f"metric {name!r} retrains models, which takes a data set: use salgen.evaluate")
        if any(need.startswith("paired_") and need not in HOW_TO_GIVE for need in missing):
            raise SalgenError(
                f"metric {name!r} compares maps of a run's second model: use salgen.evaluate, or score that model's "
                "maps without of=paired"
            )
        if missing:
            raise SalgenError(
                f"metric {name!r} needs an input that is not given: {HOW_TO_GIVE.get(missing[0], missing[0])}"
            )


def create_metric(call: str) -> Metric:
    """A metric from ``"name"`` or ``"name:key=value,..."``; a name may be an alias."""
    name, values = parse_call(call)
    if name in METRICS.entries:
        metric_class = METRICS.load(name)
    else:
        classes = {alias: cls for cls in map(METRICS.load, METRICS.names()) for alias in cls.aliases}
        if name in (ALL, *FAMILIES):
            raise SalgenError(f"{name} is a group of metrics and takes no parameters: write {name}, or name a metric")
        if "," in name:
            raise SalgenError(f"{call!r} holds several metrics: give a list, as in {name.split(',')!r}")
        if name not in classes:
            raise unknown_name("metric", name, [*METRICS.names(), *FAMILIES])
        metric_class = classes[name]
    metric: Metric = build(metric_class, values)
    return metric


def alternatives(call: str) -> Iterator[str]:
    """``"iou:threshold=0.3|0.5"`` as a call for each value."""
    name, values = parse_call(call)
    for choice in product(*(text.split(SEPARATOR) for text in values.values())):
        yield f"{name}:" + ",".join(f"{key}={value}" for key, value in zip(values, choice, strict=True))


def _instance(item: Any) -> Metric:
    if isinstance(item, type) or not hasattr(item, "needs"):
        raise SalgenError(f"{item!r} is not a metric: give a name such as 'roc-auc', or an instance")
    metric: Metric = item
    return metric


def _group(name: str, available: Collection[str]) -> dict[str, Metric]:
    order = dict.fromkeys([*DEFAULT, *METRICS.names()])  # the usual headline first
    every: dict[str, Metric] = {call: METRICS.create(call) for call in order}
    return {
        call: metric
        for call, metric in every.items()
        if name in (ALL, metric.family) and metric.needs <= set(available)
    }


def by_reading(calls: Iterable[str]) -> dict[str | None, list[str]]:
    """Metrics by the code or paper whose deviating reading they follow; the canonical ones, first, under None.

    Only metrics of one group may stand in one table, and be ranked or averaged together.

    Examples
    --------
    >>> by_reading(["prec99:compat=authors_exact", "roc-auc", "prec99"])
    {None: ['roc-auc', 'prec99'], 'authors_exact': ['prec99:compat=authors_exact']}
    """
    groups: dict[str | None, list[str]] = {None: []}
    for call in calls:
        groups.setdefault(compat_of(create_metric(call)), []).append(call)
    return groups if groups[None] else {reading: group for reading, group in groups.items() if group}


def canonical(calls: Iterable[str]) -> list[str]:
    """The metrics that follow their own definition, and not the deviating reading of some code or paper."""
    return by_reading(calls).get(None, [])


def higher_is_better(call: str) -> bool | None:
    """A metric's direction; None for a diagnostic, which ranks nothing."""
    return create_metric(call).higher_is_better


def ranking_metrics(calls: Iterable[str]) -> list[str]:
    """The metrics that say which of two maps is better."""
    return [call for call in calls if higher_is_better(call) is not None]


def bounds(call: str) -> tuple[float, float]:
    """The smallest and largest value that a sample can have."""
    return create_metric(call).bounds
