"""Legends: the description of each metric of a page, from its own declaration."""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass

from salgen.evaluation.report.runs import Run
from salgen.evaluation.scoring.metric_selection import create_metric


@dataclass(frozen=True)
class MetricLegend:
    """One metric, and the calls of it that the page shows."""

    name: str
    family: str
    calls: list[str]
    description: str
    direction: str
    bounds: str
    reference: str


def metric_legends(runs: Iterable[Run]) -> list[MetricLegend]:
    """A legend for each metric of the runs, in their order."""
    calls: dict[str, list[str]] = {}
    for call in dict.fromkeys(call for run in runs for call in run.metrics):
        calls.setdefault(create_metric(call).name, []).append(call)
    return [_legend(name, metric_calls) for name, metric_calls in calls.items()]


def _legend(name: str, calls: list[str]) -> MetricLegend:
    metric = create_metric(calls[0])
    directions = {True: "more is better", False: "less is better", None: "diagnostic, ranks nothing"}
    low, high = metric.bounds
    return MetricLegend(
        name=name,
        family=metric.family,
        calls=[call for call in calls if call != name],
        description=inspect.getdoc(type(metric)).split("\n\n")[0].replace("\n", " ").strip(),  # type: ignore[union-attr]
        direction=directions[metric.higher_is_better],
        bounds=f"{_bound(low)} to {_bound(high)}",
        reference=metric.reference,
    )


def _bound(value: float) -> str:
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}").replace("inf", "\N{INFINITY}")
