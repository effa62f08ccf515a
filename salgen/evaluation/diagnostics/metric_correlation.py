"""Do two metrics order data sets alike? Pearson's correlation of their means (Zhang et al. 2025, Table 3)."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.evaluation.metrics.inputs.map_similarity import pearson
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.statistics.score_cube import read_scores
from salgen.evaluation.statistics.summary import ALL_SEEDS, summarise
from salgen.types import Float64

NOTHING = "–"  # noqa: RUF001
LEAST = 3  # data sets: a line through two points says nothing

Means = Mapping[str, Float64]
Key = tuple[str, str, str]  # model, method, metric


class MetricCorrelation(NamedTuple):
    """The agreement of two metrics for one model and method."""

    model: str
    method: str
    first: str
    second: str
    n: int  # data sets on which both have a mean
    pearson: float  # in [-1, 1]; NaN where n is less than three, or a metric has the same mean everywhere


class RunCorrelations(NamedTuple):
    """The correlations over several runs."""

    correlations: list[MetricCorrelation]
    data_sets: int  # number of data sets
    left_out: list[str]  # metrics, methods and models that not all runs have, such as `"metric iou"`


def correlations(means: Means, model: str = "", method: str = "") -> list[MetricCorrelation]:
    """The correlation of each pair of metrics, by their means on data sets in one order, NaN where there is none."""
    pairs = []
    for first, second in combinations(means, 2):
        both = np.isfinite(means[first]) & np.isfinite(means[second])
        count = int(both.sum())
        value = pearson(means[first][both], means[second][both]) if count >= LEAST else math.nan
        pairs.append(MetricCorrelation(model, method, first, second, count, value))
    return pairs


def run_correlations(runs: Sequence[str | Path]) -> RunCorrelations:
    """The correlations of each model and method over runs on three data sets or more, failed maps left out."""
    if len(runs) < LEAST:
        count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
        raise SalgenError(f"{count}: a correlation over data sets takes {LEAST} or more, one for each data set")
    run_of: dict[str, Path] = {}
    for run in map(Path, runs):
        data = RunRecord.read(run / RECORD).dataset
        if data.fingerprint in run_of:
            raise SalgenError(f"{run_of[data.fingerprint]} and {run} are of one data set, {data.name}: give one")
        run_of[data.fingerprint] = run
    tables = [_means(Path(run)) for run in runs]
    shared = [key for key in tables[0] if all(key in table for table in tables)]
    found = []
    for model, method in dict.fromkeys((model, method) for model, method, _ in shared):
        metrics = [metric for *series, metric in shared if tuple(series) == (model, method)]
        means = {metric: np.array([table[model, method, metric] for table in tables]) for metric in metrics}
        found += correlations(means, model, method)
    if not found:
        raise SalgenError("these runs have no model, method and two metrics in common")
    left_out = []
    for part, kind in ((2, "metric"), (1, "method"), (0, "model")):
        used = {key[part] for key in shared}
        present = dict.fromkeys(key[part] for table in tables for key in table)
        left_out += [f"{kind} {name}" for name in present if name not in used]
    return RunCorrelations(found, len(runs), left_out)


def _means(run: Path) -> dict[Key, float]:
    """(model, method, metric) to the mean, the run's first variant before others."""
    means: dict[Key, float] = {}
    for row in summarise(read_scores(run)):
        if row.training_seed == ALL_SEEDS:
            means.setdefault((row.model, row.method, row.metric), row.mean)
    return means


def correlation_table(all_correlations: Sequence[MetricCorrelation]) -> str:
    """The correlations as a Markdown table: a row per pair of metrics and model, a column per method."""
    methods = list(dict.fromkeys(pair.method for pair in all_correlations))
    most = max((pair.n for pair in all_correlations), default=0)
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    for pair in all_correlations:
        text = f"{pair.pearson:.4f}" + (f" (n = {pair.n})" if pair.n < most else "")
        row = cells.setdefault((pair.model, pair.first, pair.second), {})
        row[pair.method] = NOTHING if math.isnan(pair.pearson) else text
    rows = [
        [model, f"{first}, {second}", *(values.get(method, NOTHING) for method in methods)]
        for (model, first, second), values in cells.items()
    ]
    return markdown_table(["model", "metrics", *methods], rows)
