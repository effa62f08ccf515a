"""Rank correlations of other metrics with the headline metric over data sets, where a page holds three or more."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from salgen.evaluation.diagnostics.metric_correlation import LEAST, MetricCorrelation, correlations
from salgen.evaluation.report.runs import METHOD, Run
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.types import Float64


@dataclass(frozen=True)
class PaperAgreement:
    """Correlations of one model's headline metric with the other metrics: methods in rows, metrics in columns."""

    model: str
    metric: str
    data_sets: int
    metrics: list[str]
    lines: list[tuple[str, list[MetricCorrelation]]]


def agreements(runs: Sequence[Run]) -> list[PaperAgreement]:
    """A table for each model that all runs have, if they are of three data sets or more and share metrics."""
    if len({run.record.dataset.fingerprint for run in runs}) < LEAST:
        return []
    first = runs[0]
    metrics = [metric for metric in first.metrics if all(metric in run.metrics for run in runs)]
    headline = first.headline
    if headline not in metrics or len(metrics) < 2:
        return []
    other_metrics = [metric for metric in metrics if metric != headline]
    models = [model for model in first.model_names if all(model in run.model_names for run in runs)]
    tables = [
        PaperAgreement(model, headline, len(runs), other_metrics, _lines(runs, model, headline, other_metrics))
        for model in models
    ]
    return [table for table in tables if table.lines]


def _lines(
    runs: Sequence[Run], model: str, headline: str, other_metrics: Sequence[str]
) -> list[tuple[str, list[MetricCorrelation]]]:
    shared = [key for key in runs[0].keys(model) if all(key in run.keys(model) for run in runs)]
    return [
        (
            runs[0].method_label(model, key),
            [_correlation(runs, model, key, headline, metric) for metric in other_metrics],
        )
        for key in shared
        if runs[0].role(key[0]) == METHOD
    ]


def _correlation(runs: Sequence[Run], model: str, key: Key, *metrics: str) -> MetricCorrelation:
    means = {metric: _means(runs, model, key, metric) for metric in metrics}
    (correlation,) = correlations(means, model, key[0])
    return correlation


def _means(runs: Sequence[Run], model: str, key: Key, metric: str) -> Float64:
    rows = [run.row(model, key, metric, run.variant_of(metric)) for run in runs]
    return np.array([row.mean if row is not None else np.nan for row in rows])
