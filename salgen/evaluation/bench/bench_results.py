"""The results of salgen-bench, read from their folder, and the order of methods by them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.bench.bench_run import RESULTS, SPEC
from salgen.evaluation.bench.bench_spec import BenchSpec, Entry
from salgen.evaluation.bench.standing import Standing, standing
from salgen.evaluation.results.run import Run
from salgen.evaluation.scoring.metric_groups import higher_is_better
from salgen.evaluation.statistics.score_cube import ALL
from salgen.types import Float64


def main_entries(spec: BenchSpec, *, reliance: bool = True) -> list[Entry]:
    """The entries that methods are ranked by: of each data set the first network, trained for reliance or plainly."""
    first = [data.networks[0] if data.networks else data.designed for data in spec.data]
    return [
        Entry(data, network, reliance and not data.designed) for data, network in zip(spec.data, first, strict=True)
    ]


def read_standing(spec: BenchSpec, folder: Path, *, reliance: bool = True, samples: str = ALL) -> Standing:
    """The order of methods by the results in a folder of the benchmark; controls are left out.

    Parameters
    ----------
    folder
        The folder that holds ``results``. Entries that are not there yet do not count.
    reliance
        Whether networks that are trained for reliance count, or those that are trained plainly.
    samples
        The samples that count: ``"all"``, ``"correct"`` or ``"certified"``.

    Raises
    ------
    SalgenError
        If there is no result, or one is of another version.
    """
    runs = [
        open_results(spec, folder / RESULTS / entry.name)
        for entry in main_entries(spec, reliance=reliance)
        if (folder / RESULTS / entry.name).is_dir()
    ]
    if not runs:
        raise SalgenError(f"{folder} holds no results of salgen-bench {spec.version}: salgen bench run makes them")
    methods = sorted({method.call for run in runs for method in run.record.methods if not method.control})
    return standing(np.stack([_means(spec, run, methods, samples) for run in runs]), methods)


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


def _means(spec: BenchSpec, run: Run, methods: list[str], samples: str) -> Float64:
    """The mean of each family's metric (F, T, M), higher is better; NaN where there is none."""
    means = np.full((len(spec.headlines), spec.trainings, len(methods)), np.nan)
    places = {method: number for number, method in enumerate(methods)}
    families = {metric: number for number, metric in enumerate(spec.headlines.values())}
    rows = run.summary
    rows = rows[(rows["samples"] == samples) & rows["training_seed"].isin([str(n) for n in range(spec.trainings)])]
    rows = rows[rows["method"].isin(places) & rows["metric"].isin(families)]
    first = rows.drop_duplicates(["metric", "method", "training_seed"])  # the region of the headline comes first
    columns = (first[name] for name in ("metric", "training_seed", "method", "mean_worst_case"))
    for metric, seed, method, mean in zip(*columns, strict=True):
        sign = 1.0 if higher_is_better(metric) else -1.0
        means[families[metric], int(seed), places[method]] = sign * mean
    return means
