"""Properties of metrics that tables need, by their calls: direction, bounds, and whose reading they follow."""

from collections.abc import Iterable

from salgen.evaluation.metrics.inputs.metric import compat_of
from salgen.evaluation.scoring.metric_selection import create_metric


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
