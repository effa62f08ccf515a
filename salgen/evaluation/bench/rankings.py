"""The order of methods by the published results of salgen-bench, and how alike metrics order them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
import numpy as np
import pandas as pd
from salgen.errors import SalgenError
from salgen.evaluation.bench.published import SCORED, is_certified, open_results, read_scores
from salgen.evaluation.bench.standing import Standing, standing, student_interval
from salgen.evaluation.bench.versions import BenchEntry, BenchSpec
from salgen.evaluation.report.reliance import LOW_COVERAGE
from salgen.evaluation.runs.artifacts.run_record import RunRecord
from salgen.evaluation.statistics.score_cube import ALL, CERTIFIED
from salgen.types import Float64

DECIMALS = 5  # means are ranked at so many: on another processor a score differs by up to 1e-6


def main_entries(spec: BenchSpec, *, reliance: bool = True) -> list[BenchEntry]:
    """The entries that methods are ranked by: of each data set the first network, trained for reliance or plainly."""
    first = [data.networks[0] if data.networks else data.designed for data in spec.data]
    return [
        BenchEntry(data, network, reliance and not data.designed)
        for data, network in zip(spec.data, first, strict=True)
    ]


def certified_share(record: RunRecord) -> float:
    """The share of certified samples, the mean over trainings; NaN without certificates."""
    models = record.certificates.models
    return float(np.mean([model.coverage for model in models])) if models else float("nan")


def uncertified_data(spec: BenchSpec, folder: Path, entries: Sequence[BenchEntry]) -> list[str]:
    """The data sets on fewer than half of whose images the networks use the cause, on average over trainings."""
    shares = {entry.data.name: certified_share(open_results(spec, folder / entry.name)) for entry in entries}
    return [name for name, share in shares.items() if share < LOW_COVERAGE]


def method_scores(
    spec: BenchSpec,
    folder: Path,
    entries: Sequence[BenchEntry],
    *,
    metrics: Collection[str] | None = None,
    samples: str = ALL,
    floors: bool = False,
) -> dict[str, pd.DataFrame]:
    """The scores of methods, and perhaps of floors, by default by the headline metrics, of entries that have any."""
    names = [entry.name for entry in entries if (folder / entry.name).is_dir()]
    if not names:
        raise SalgenError(f"{folder} holds no results such as {entries[0].name}: salgen bench fetch copies them")
    found = {}
    for name in names:
        rows = read_scores(spec, folder / name, spec.headlines.values() if metrics is None else metrics)
        rows = rows if floors else rows[~rows["floor"]]
        if samples != ALL:
            rows = rows[is_certified(rows) if samples == CERTIFIED else rows[samples]]
        if len(rows):
            found[name] = rows[[*SCORED, "floor", "better"]]
    return found


def standing_by(spec: BenchSpec, scores: Mapping[str, pd.DataFrame], metrics: Sequence[str] | None = None) -> Standing:
    """The order of the methods that have scores, by some metrics or those that methods are ranked by."""
    methods = sorted({method for rows in scores.values() for method in rows["method"].unique()})
    chosen = list(spec.headlines.values()) if metrics is None else list(metrics)
    return standing(np.stack([mean_scores(spec, rows, chosen, methods) for rows in scores.values()]), methods)


def mean_scores(spec: BenchSpec, scores: pd.DataFrame, metrics: list[str], methods: list[str]) -> Float64:
    """The mean over samples by each metric, float64 (F, T, M), rounded so that equal maps tie; NaN where none is."""
    axes = [metrics, range(spec.trainings), methods]
    means = scores.groupby(["metric", "training_seed", "method"], observed=True)["better"].mean().round(DECIMALS)
    return np.asarray(means.reindex(pd.MultiIndex.from_product(axes)).to_numpy().reshape([*map(len, axes)]))


class OrderAgreement(NamedTuple):
    """Kendall's tau between metrics, in rows and columns: the mean over data sets with its 95 % interval."""

    mean: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame


def metric_agreement(scores: Mapping[str, pd.DataFrame], metrics: Sequence[str]) -> OrderAgreement:
    """Kendall's tau of methods' orders by two metrics, with Student's interval over entries; NaN below 3 methods."""
    tables, names = [], list(metrics)
    for rows in scores.values():
        means = rows.pivot_table(index="method", columns="metric", values="better")
        tables.append(means.round(DECIMALS).reindex(columns=names).corr(method="kendall", min_periods=3))
    found = student_interval(np.array(tables))
    return OrderAgreement(*(pd.DataFrame(np.clip(table, -1.0, 1.0), index=names, columns=names) for table in found))
