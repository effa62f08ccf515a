"""Do metrics agree? Pearson's correlation of two metrics over the means of several data sets.

Saliency-Bench (Zhang et al. 2025, Table 3) prints it for each method and network over eight data sets.
It says whether two metrics put the data sets in the same order, not whether they put methods in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.map_similarity import pearson
from salgen.evaluation.score_cube import read_scores
from salgen.evaluation.summary import ALL_SEEDS, summarise
from salgen.types import Float64

LEAST = 3  # data sets: a line through two points says nothing

Means = Mapping[str, Float64]


@dataclass(frozen=True)
class Correlation:
    """How two metrics agree for one model and method.

    Attributes
    ----------
    n
        Data sets on which both have a mean.
    pearson
        In [-1, 1]; NaN where n is less than three, or a metric has the same mean everywhere.
    """

    model: str
    method: str
    one: str
    other: str
    n: int
    pearson: float


def correlations(means: Means, model: str = "", method: str = "") -> list[Correlation]:
    """Each two metrics over the data sets.

    Parameters
    ----------
    means
        Metric to its means on D data sets, float64 (D,), in one order; NaN where there is none.

    Examples
    --------
    >>> (found,) = correlations({"iou": np.array([0.1, 0.2, 0.3]), "pg": np.array([0.5, 0.7, 0.6])})
    >>> round(found.pearson, 3)
    0.5
    """
    return [_correlation(model, method, one, other, means) for one, other in combinations(means, 2)]


def run_correlations(runs: Sequence[str | Path]) -> list[Correlation]:
    """The correlations of each model and method over runs on three data sets or more.

    Means are those of all training seeds and samples, failed maps left out, in each run's headline
    variant, or in the one that a metric has.

    Raises
    ------
    SalgenError
        If there are fewer than three runs, or no method and two metrics that all of them share.
    """
    if len(runs) < LEAST:
        raise SalgenError(f"{len(runs)} runs: a correlation over data sets takes {LEAST} or more")
    tables = [_means(Path(run)) for run in runs]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    found = []
    for model, method in dict.fromkeys((model, method) for model, method, _ in shared):
        metrics = [metric for *who, metric in shared if tuple(who) == (model, method)]
        means = {metric: np.array([table[model, method, metric] for table in tables]) for metric in metrics}
        found += correlations(means, model, method)
    if not found:
        raise SalgenError("these runs have no model, method and two metrics in common")
    return found


def _means(run: Path) -> dict[tuple[str, str, str], float]:
    """(model, method, metric) to the mean, the run's first variant before others."""
    found: dict[tuple[str, str, str], float] = {}
    for row in summarise(read_scores(run)):
        if row.training_seed == ALL_SEEDS:
            found.setdefault((row.model, row.method, row.metric), row.mean)
    return found


def _correlation(model: str, method: str, one: str, other: str, means: Means) -> Correlation:
    both = np.isfinite(means[one]) & np.isfinite(means[other])
    count = int(both.sum())
    found = pearson(means[one][both], means[other][both]) if count >= LEAST else math.nan
    return Correlation(model, method, one, other, count, found)


def correlation_table(found: Sequence[Correlation]) -> str:
    """As Markdown: a row for each two metrics of a model, a column for each method."""
    methods = list(dict.fromkeys(one.method for one in found))
    lines = [f"| model | metrics | {' | '.join(methods)} |", "| --- | --- |" + " ---: |" * len(methods)]
    rows = {(one.model, one.one, one.other): {} for one in found}  # type: dict[tuple[str, str, str], dict[str, float]]
    for one in found:
        rows[one.model, one.one, one.other][one.method] = one.pearson
    for (model, first, second), values in rows.items():
        cells = [values.get(method, math.nan) for method in methods]
        shown = " | ".join("–" if math.isnan(value) else f"{value:.4f}" for value in cells)  # noqa: RUF001
        lines.append(f"| {model} | {first}, {second} | {shown} |")
    return "\n".join(lines)
