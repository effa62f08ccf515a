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
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.evaluation.metrics.inputs.map_similarity import pearson
from salgen.evaluation.statistics.score_cube import read_scores
from salgen.evaluation.statistics.summary import ALL_SEEDS, summarise
from salgen.types import Float64

NOTHING = "–"  # noqa: RUF001
LEAST = 3  # data sets: a line through two points says nothing

Means = Mapping[str, Float64]
Key = tuple[str, str, str]  # model, method, metric


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


@dataclass(frozen=True)
class RunCorrelations:
    """What several runs say together.

    Attributes
    ----------
    data_sets
        How many there are.
    left_out
        Metrics, methods and models that not all runs have, such as ``"metric iou"``.
    """

    found: list[Correlation]
    data_sets: int
    left_out: list[str]


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


def run_correlations(runs: Sequence[str | Path]) -> RunCorrelations:
    """The correlations of each model and method over runs on three data sets or more.

    Means are those of all training seeds and samples, failed maps left out, in each run's headline
    variant, or in the one that a metric has.

    Raises
    ------
    SalgenError
        If there are fewer than three runs, two of one data set, or no method and two metrics that all of
        them share.
    """
    if len(runs) < LEAST:
        given = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
        raise SalgenError(f"{given}: a correlation over data sets takes {LEAST} or more, one for each data set")
    _check_data_sets([Path(run) for run in runs])
    tables = [_means(Path(run)) for run in runs]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    found = []
    for model, method in dict.fromkeys((model, method) for model, method, _ in shared):
        metrics = [metric for *who, metric in shared if tuple(who) == (model, method)]
        means = {metric: np.array([table[model, method, metric] for table in tables]) for metric in metrics}
        found += correlations(means, model, method)
    if not found:
        raise SalgenError("these runs have no model, method and two metrics in common")
    return RunCorrelations(found, len(runs), _left_out(tables, shared))


def _check_data_sets(runs: Sequence[Path]) -> None:
    from salgen.evaluation.runs.artifacts.run_record import RunRecord  # the report imports this module

    known: dict[str, Path] = {}
    for run in runs:
        data = RunRecord.read(run / "run.json").dataset
        if data.fingerprint in known:
            raise SalgenError(
                f"{known[data.fingerprint]} and {run} are of one data set, {data.name}: give one run for each data set"
            )
        known[data.fingerprint] = run


def _left_out(tables: Sequence[Mapping[Key, float]], shared: Sequence[Key]) -> list[str]:
    """Metrics, methods and models that some run has and that no correlation is of, in this order."""
    found = []
    for part, kind in ((2, "metric"), (1, "method"), (0, "model")):
        there = dict.fromkeys(key[part] for table in tables for key in table)
        used = {key[part] for key in shared}
        found += [f"{kind} {name}" for name in there if name not in used]
    return found


def _means(run: Path) -> dict[Key, float]:
    """(model, method, metric) to the mean, the run's first variant before others."""
    found: dict[Key, float] = {}
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
    """As Markdown: a row for each two metrics of a model, a column for each method.

    A value of fewer data sets than others have says of how many.
    """
    methods = list(dict.fromkeys(one.method for one in found))
    most = max((one.n for one in found), default=0)
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in found:
        cells.setdefault((one.model, one.one, one.other), {})[one.method] = _cell(one, most)
    rows = [
        [model, f"{first}, {second}", *(values.get(method, NOTHING) for method in methods)]
        for (model, first, second), values in cells.items()
    ]
    return markdown_table(["model", "metrics", *methods], rows)


def _cell(one: Correlation, most: int) -> str:
    if math.isnan(one.pearson):
        return NOTHING
    return f"{one.pearson:.4f}" + (f" (n = {one.n})" if one.n < most else "")
