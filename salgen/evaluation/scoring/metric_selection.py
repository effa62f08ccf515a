"""The metrics chosen by names, calls with parameters, groups, and sweeps over a parameter."""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any
from salgen.errors import SalgenError, unknown_name, warn
from salgen.evaluation.metrics.inputs.metric import FAMILIES, Metric, compat_of
from salgen.evaluation.scoring.own_metrics import MetricRecord, OwnMetric, is_own, is_path, metric_records, own_metric
from salgen.parameters import NAME, build, call_text, parse_call
from salgen.registry import METRICS

ALL = "all"
DEFAULT = ("roc-auc", "average-precision", "prec99", "m-gt", "relevance-mass", "pointing-game")
SEPARATOR = "|"

# a name or call, an instance, or a function of map float (H, W) and mask bool (H, W); one or several
OneMetric = str | Metric | Callable[[Any, Any], float]
Metrics = OneMetric | Sequence[OneMetric] | Mapping[str, OneMetric]

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

_remembered: dict[str, Metric] = {}


def choose_metrics(metrics: Metrics, available: Collection[str] = (), scale: str | None = None) -> dict[str, Metric]:
    """Metrics by name, from what :func:`salgen.score` takes as its `metrics`.

    ``"all"`` and the families stand for those metrics that need no more than the inputs `available`. A value such as
    ``0.1|0.2`` stands for a metric with each of them. At a `scale`, in a run, its defaults hold and metrics are swept,
    except for parameters that the call sets.

    Examples
    --------
    >>> list(choose_metrics(["roc-auc", "iou:threshold=0.3|0.5"]))
    ['roc-auc', 'iou:threshold=0.3', 'iou']
    >>> choose_metrics({"error": lambda values, mask: abs(values - mask).mean()})["error"].higher_is_better
    True
    """
    listed: Any = metrics if isinstance(metrics, Collection) and not isinstance(metrics, str) else [metrics]
    chosen: dict[str, Metric] = {}
    for name, given in listed.items() if isinstance(listed, Mapping) else ((None, item) for item in listed):
        found = _found(given, available, scale)
        if renamed := name is not None and name not in found:
            if len(found) != 1:
                raise SalgenError(f"metric {name!r}: {given!r} stands for several metrics: name one of {list(found)}")
            (metric,) = found.values()
            found = {name: dataclasses.replace(metric, name=name) if isinstance(metric, OwnMetric) else metric}
        for call, metric in found.items():
            if is_own(metric) or renamed:
                _check_name(call)
            if call in chosen and is_own(metric):
                raise SalgenError(f"{call!r} is the name of several metrics: give each its own in a dict")
        chosen |= found
    return chosen


def _found(given: Any, available: Collection[str], scale: str | None) -> dict[str, Metric]:
    if not isinstance(given, str) or is_path(given):
        return dict([own_metric(given)])
    if given == ALL or given in FAMILIES:
        found = _group(given, available)
    elif SEPARATOR in given:
        found = {call_text(metric): metric for metric in map(registered_metric, alternatives(given))}
    else:
        found = {given: registered_metric(given)}
    if scale is None:
        return found
    scaled: dict[str, Metric] = {}
    fixed = {} if given == ALL or given in FAMILIES else {key.replace("-", "_") for key in parse_call(given)[1]}
    for metric in found.values():
        sweeps = {key: values for key, values in metric.sweep.items() if key not in fixed}
        defaults = {key: value for key, value in metric.scales.get(scale, {}).items() if key not in fixed}
        for values in product(*sweeps.values()):
            variant: Any = dataclasses.replace(metric, **defaults, **dict(zip(sweeps, values, strict=True)))
            scaled[call_text(variant)] = variant
    return scaled


def _check_name(call: str) -> None:
    name = parse_call(call)[0]
    if name in (ALL, *FAMILIES, *METRICS.entries) or not NAME.fullmatch(name):
        raise SalgenError(f"metric {call!r}: the name is salgen's, or none for a table: give another in a dict")


def resolve_metrics(
    metrics: Metrics | None,
    earlier: Sequence[str],
    scale: str,
    offered: frozenset[str],
    why_missing: Mapping[str, str],
    by_name_only: frozenset[str] = frozenset(),
) -> dict[str, Metric]:
    """The metrics of a run by their names, after those of an `earlier` one, which has its defaults.

    `offered` names the inputs that the run can provide. `why_missing` gives for others the words that follow the
    metric's name in an error; the first one counts. No group includes metrics with inputs `by_name_only`.
    """
    chosen = {call: create_metric(call) for call in earlier}
    chosen |= choose_metrics(metrics or (() if earlier else DEFAULT), offered - by_name_only, scale)
    for call, metric in chosen.items():
        if isinstance(metric, OwnMetric) and metric.function is None:
            raise SalgenError(f"the run's metric {call!r} is {metric.reference}: give it again, or --replace")
    remember(metric_records(chosen))
    for call, metric in chosen.items():
        for need, why in why_missing.items():
            if need in metric.needs - offered:
                raise SalgenError(f"metric {call!r} {why}")
    check_needs(chosen, offered)
    return chosen


def warn_of_left_out(
    metrics: Metrics, chosen: Mapping[str, Metric], available: frozenset[str], reasons: Mapping[str, frozenset[str]]
) -> None:
    """Warn of metrics that groups leave out: `reasons` has, in words, the inputs that are not `available` to groups."""
    listed = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Collection) else metrics
    groups = [call for call in listed if isinstance(call, str) and call in (ALL, *FAMILIES)]
    names = {metric.name for metric in chosen.values()}
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
            raise SalgenError(f"metric {name!r} compares maps of a run's second model: use salgen.evaluate")
        if missing:
            raise SalgenError(f"metric {name!r} lacks an input: {HOW_TO_GIVE.get(missing[0], missing[0])}")


def create_metric(call: str) -> Metric:
    """A metric by its name in tables: salgen's, or a run's own, of which only the declarations are known."""
    return _remembered.get(call) or registered_metric(call)


def registered_metric(call: str) -> Metric:
    """A metric from ``"name"`` or ``"name:key=value,..."``; a name may be an alias."""
    name, values = parse_call(call)
    classes = {} if name in METRICS.entries else {a: m for m in METRICS.names() for a in METRICS.load(m).aliases}
    if name in (ALL, *FAMILIES):
        raise SalgenError(f"{name} is a group of metrics and takes no parameters: write {name}, or name a metric")
    if "," in name:
        raise SalgenError(f"{call!r} holds several metrics: give a list, as in {name.split(',')!r}")
    if name not in METRICS.entries and name not in classes:
        raise unknown_name("metric", name, [*METRICS.names(), *FAMILIES])
    metric: Metric = build(METRICS.load(classes.get(name, name)), values)
    return metric


def remember(records: Iterable[MetricRecord]) -> None:
    """Know a run's own metrics by their names from now on: what they declare, without their code."""
    for record in records:
        _check_name(record.call)
        _remembered[record.call] = registered_metric(record.stands_for) if record.stands_for else record.declared


def alternatives(call: str) -> Iterator[str]:
    """``"iou:threshold=0.3|0.5"`` as a call for each value."""
    name, values = parse_call(call)
    for choice in product(*(text.split(SEPARATOR) for text in values.values())):
        yield f"{name}:" + ",".join(f"{key}={value}" for key, value in zip(values, choice, strict=True))


def _group(name: str, available: Collection[str]) -> dict[str, Metric]:
    order = dict.fromkeys([*DEFAULT, *METRICS.names()])  # the usual headline first
    every: dict[str, Metric] = {call: METRICS.create(call) for call in order}
    return {
        call: metric
        for call, metric in every.items()
        if metric.in_all and name in (ALL, metric.family) and metric.needs <= set(available)
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
