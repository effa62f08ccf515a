"""The results of salgen-bench, read from their folder, and the order of methods by them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.bench.bench_run import RESULTS, SPEC
from salgen.evaluation.bench.bench_spec import BenchSpec, Entry
from salgen.evaluation.bench.standing import Standing, standing
from salgen.evaluation.results.run import Run
from salgen.evaluation.scoring.metric_groups import higher_is_better
from salgen.evaluation.statistics.score_cube import ALL
from salgen.types import Float64

if TYPE_CHECKING:
    import pandas as pd

SCORED = ["method", "metric", "training_seed", "sample_id"]


def main_entries(spec: BenchSpec, *, reliance: bool = True) -> list[Entry]:
    """The entries that methods are ranked by: of each data set the first network, trained for reliance or plainly."""
    first = [data.networks[0] if data.networks else data.designed for data in spec.data]
    return [
        Entry(data, network, reliance and not data.designed) for data, network in zip(spec.data, first, strict=True)
    ]


def open_results(spec: BenchSpec, results: Path) -> Run:
    """The results of one entry.

    Raises
    ------
    SalgenError
        If they are of another version, or damaged.
    """
    stated = json.loads((results / SPEC).read_text(encoding="utf-8"))
    if stated != {"version": spec.version, "sha256": spec.digest}:
        raise SalgenError(f"{results} is not of salgen-bench {spec.version}: it states {stated}")
    return Run(results)


def headline_scores(spec: BenchSpec, results: Path, samples: str = ALL) -> pd.DataFrame:
    """The scores of the methods of one entry, controls left out, by the metrics that rank methods.

    Parameters
    ----------
    samples
        The samples that count: ``"all"``, ``"correct"`` or ``"certified"``.

    Returns
    -------
    The columns `method`, `metric`, `training_seed`, `sample_id` and `value`, where higher is better, and maps that
    failed have the worst value.
    """
    run = open_results(spec, results)
    rows = run.scores
    methods = [method.call for method in run.record.methods if not method.control]
    rows = rows[rows["method"].isin(methods) & rows["metric"].isin(spec.headlines.values())]
    if samples != ALL:
        rows = rows[rows[samples].fillna(value=False).astype(bool)]
    headline = run.record.headline_variant
    elsewhere = set(rows["metric"]) - set(rows.loc[rows["variant"] == headline, "metric"])
    rows = rows[(rows["variant"] == headline) | rows["metric"].isin(elsewhere)]
    sign = rows["metric"].map({metric: 1.0 if higher_is_better(metric) else -1.0 for metric in set(rows["metric"])})
    return rows[SCORED].assign(value=rows["value_worst_case"] * sign)


def read_scores(spec: BenchSpec, folder: Path, *, reliance: bool = True, samples: str = ALL) -> dict[str, pd.DataFrame]:
    """The scores by which methods are ranked, by the name of each entry that has results in a folder of the benchmark.

    Parameters
    ----------
    folder
        The folder that holds ``results``.
    reliance
        Whether networks that are trained for reliance count, or those that are trained plainly.
    samples
        As for :func:`headline_scores`.

    Raises
    ------
    SalgenError
        If there is no result, or one is of another version.
    """
    places = {entry.name: folder / RESULTS / entry.name for entry in main_entries(spec, reliance=reliance)}
    found = {name: headline_scores(spec, path, samples) for name, path in places.items() if path.is_dir()}
    if not found:
        raise SalgenError(f"{folder} holds no results of salgen-bench {spec.version}: salgen bench run makes them")
    return found


def standing_by(spec: BenchSpec, scores: Mapping[str, pd.DataFrame]) -> Standing:
    """The order of the methods that have scores."""
    methods = sorted({method for rows in scores.values() for method in rows["method"]})
    return standing(np.stack([_means(spec, rows, methods) for rows in scores.values()]), methods)


def _means(spec: BenchSpec, scores: pd.DataFrame, methods: list[str]) -> Float64:
    """The mean of each family's metric (F, T, M); NaN where there is none."""
    means = np.full((len(spec.headlines), spec.trainings, len(methods)), np.nan)
    places = {method: number for number, method in enumerate(methods)}
    families = {metric: number for number, metric in enumerate(spec.headlines.values())}
    by_group = scores.groupby(SCORED[:3], observed=True)["value"].mean().reset_index()
    for method, metric, seed, mean in zip(*(by_group[name] for name in by_group), strict=True):
        means[families[metric], seed, places[method]] = mean
    return means
