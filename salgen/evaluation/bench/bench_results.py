"""The published results of salgen-bench, one folder for each entry and split: written from its run, and read."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.bench.bench_claims import CLAIMS, claim_scores, direction, read_claim
from salgen.evaluation.bench.bench_spec import BenchSpec, Entry
from salgen.evaluation.bench.standing import Standing, standing
from salgen.evaluation.report.gallery import GALLERY, LEVELS, read_gallery, strongest
from salgen.evaluation.report.reliance_lines import LOW_COVERAGE
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.statistics.score_cube import ALL, CORRECT, SCORES
from salgen.evaluation.statistics.summary import ALL_SEEDS, SUMMARY
from salgen.files import atomic_path, copy_file, write_text
from salgen.parameters import canonical_json
from salgen.types import Float64

if TYPE_CHECKING:
    import pandas as pd

SPEC = "salgen-bench.json"
SCORED = ["method", "metric", "training_seed", "sample_id"]
SUMMARISED = ["samples", "model", "method", "metric", "n_trainings", "n_clusters", "n_samples"]
PICTURES = 4
MEANS = {"mean_worst_case": "mean", "ci_low_worst_case": "ci_low", "ci_high_worst_case": "ci_high"}


def keep_results(spec: BenchSpec, run: Path, results: Path, *, gallery: bool = False) -> None:
    """Write what is published of a run: its record, the scores of the headline region, perhaps maps for pictures.

    ``scores.parquet`` has a row for each method, metric, training and sample: `value` float32, NaN where it is
    undefined, and the metric's worst value where the map has `failed`; whether the sample is `correct` and
    `certified`. ``summary.csv`` has their means over samples and trainings with 95 % intervals, the version of the
    benchmark and its digest.
    """
    made = Run(run)
    scores = headline_scores(made.scores, made.record)
    value = scores["value_worst_case"].astype(np.float32)
    kept = scores[[*SCORED, "correct", "certified"]]
    kept = kept.assign(value=value, failed=scores["value"].isna() & value.notna())
    results.mkdir(parents=True, exist_ok=True)
    with atomic_path(results / SCORES) as path:
        kept.to_parquet(
            path,
            index=False,
            compression="zstd",
            compression_level=19,
            use_dictionary=SCORED,  # of values, which hardly repeat, it would take more room
            use_byte_stream_split=["value"],
        )
    summary = made.summary[(made.summary["training_seed"] == ALL_SEEDS) & (made.summary["samples"] != CORRECT)]
    summary = headline_scores(summary, made.record)
    summary = summary[[*SUMMARISED, *MEANS]].rename(columns=MEANS)
    summary = summary.assign(entry=results.name, version=spec.version, sha256=spec.digest[:12])
    write_text(results / SUMMARY, summary.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    copy_file(run / RECORD, results / RECORD)
    if gallery:
        _keep_pictures(run / GALLERY, results / GALLERY)
    write_text(results / SPEC, canonical_json(spec.stated) + "\n")


def _keep_pictures(run: Path, results: Path) -> None:
    """Keep the maps of a run's first pictured samples in as many levels as their pictures have colours."""
    arrays = read_gallery(run)
    chosen = slice(0, PICTURES)
    maps = arrays["maps"][:, chosen]
    top = np.array([[strongest(one) for one in of_method] for of_method in maps])[..., np.newaxis, np.newaxis]
    maps = np.rint(np.clip(maps / top, -1.0, 1.0) * (LEVELS - 1)) / (LEVELS - 1)
    kept: dict[str, Any] = {name: arrays[name] for name in ("methods", "class_names")}
    kept |= {name: arrays[name][chosen] for name in ("ids", "images", "masks", "labels", "predicted")}
    with atomic_path(results) as path, open(path, "wb") as handle:
        np.savez_compressed(handle, **kept, maps=maps.astype(np.float16))


def headline_scores(rows: pd.DataFrame, record: RunRecord) -> pd.DataFrame:
    """The rows of a run in the headline region, and of metrics that are not of a region."""
    headline = rows["variant"] == record.headline_variant
    return rows[headline | ~rows["metric"].isin(rows.loc[headline, "metric"])]


def main_entries(spec: BenchSpec, *, reliance: bool = True) -> list[Entry]:
    """The entries that methods are ranked by: of each data set the first network, trained for reliance or plainly."""
    first = [data.networks[0] if data.networks else data.designed for data in spec.data]
    return [
        Entry(data, network, reliance and not data.designed) for data, network in zip(spec.data, first, strict=True)
    ]


def certified_share(record: RunRecord) -> float:
    """The share of certified samples, the mean over trainings; NaN without certificates."""
    models = record.certificates.models if record.certificates else []
    return float(np.mean([model.coverage for model in models])) if models else float("nan")


def uncertified_data(spec: BenchSpec, folder: Path, entries: Sequence[Entry]) -> list[str]:
    """The data sets on fewer than half of whose images the networks use the cause alone, on average over trainings."""
    shares = {entry.data.name: certified_share(open_results(spec, folder / entry.name)) for entry in entries}
    return [name for name, share in shares.items() if share < LOW_COVERAGE]


def open_results(spec: BenchSpec, results: Path) -> RunRecord:
    """The record of the results of one entry.

    Raises
    ------
    SalgenError
        If they are of another version, or damaged.
    """
    stated = json.loads((results / SPEC).read_text(encoding="utf-8"))
    if stated != spec.stated:
        raise SalgenError(f"{results} is not of salgen-bench {spec.version}: it states {stated}")
    return RunRecord.read(results / RECORD)


def read_scores(spec: BenchSpec, results: Path) -> pd.DataFrame:
    """The scores of the methods of one entry, controls left out.

    Returns
    -------
    The columns of ``scores.parquet``, and `better`: `value` with its sign so that higher is better.
    """
    import pandas as pd

    record = open_results(spec, results)
    rows = pd.read_parquet(results / SCORES)
    rows = rows[rows["method"].isin([method.call for method in record.methods if not method.control])]
    return rows.assign(better=rows["value"] * direction(rows["metric"]))


def method_scores(
    spec: BenchSpec,
    folder: Path,
    entries: Sequence[Entry],
    *,
    metrics: Collection[str] | None = None,
    samples: str = ALL,
) -> dict[str, pd.DataFrame]:
    """The scores of methods, by the name of each entry that has results and such samples; claims are among them.

    Parameters
    ----------
    folder
        The folder of results.
    metrics
        Those by which methods are ranked if None; claims have no others.
    samples
        The samples that count: ``"all"``, ``"correct"`` or ``"certified"``.

    Returns
    -------
    The columns `method`, `metric`, `training_seed`, `sample_id` and `better`.

    Raises
    ------
    SalgenError
        If there is no result, or one is of another version.
    """
    import pandas as pd

    names = [entry.name for entry in entries if (folder / entry.name).is_dir()]
    if not names:
        raise SalgenError(f"{folder} holds no results of salgen-bench {spec.version}: salgen bench run makes them")
    claims = [read_claim(path) for path in sorted((folder / CLAIMS).glob("*.json"))]
    found = {}
    for name in names:
        rows = read_scores(spec, folder / name)
        rows = rows[rows["metric"].isin(spec.headlines.values() if metrics is None else metrics)]
        flags = rows[["training_seed", "sample_id", "correct", "certified"]].drop_duplicates()
        claimed = [claim_scores(claim, name).merge(flags) for claim in claims if name in claim.scores]
        rows = pd.concat([rows, *claimed], ignore_index=True)
        if samples != ALL:
            rows = rows[rows[samples].fillna(value=False).astype(bool)]
        if len(rows):
            found[name] = rows[[*SCORED, "better"]]
    return found


def standing_by(spec: BenchSpec, scores: Mapping[str, pd.DataFrame], metrics: Sequence[str] | None = None) -> Standing:
    """The order of the methods that have scores, by some metrics or those that methods are ranked by."""
    methods = sorted({method for rows in scores.values() for method in rows["method"]})
    chosen = list(spec.headlines.values()) if metrics is None else list(metrics)
    return standing(np.stack([_means(spec, rows, chosen, methods) for rows in scores.values()]), methods)


def _means(spec: BenchSpec, scores: pd.DataFrame, metrics: list[str], methods: list[str]) -> Float64:
    """The mean over samples by each metric, float64 (F, T, M); NaN where there is none."""
    means = np.full((len(metrics), spec.trainings, len(methods)), np.nan)
    by_group = scores.groupby(SCORED[:3], observed=True)["better"].mean().reset_index()
    for method, metric, seed, mean in zip(*(by_group[name] for name in by_group), strict=True):
        means[metrics.index(metric), seed, methods.index(method)] = mean
    return means


def metric_agreement(scores: Mapping[str, pd.DataFrame], metrics: Sequence[str]) -> pd.DataFrame:
    """Kendall's tau between the methods' means by each two metrics, the mean over entries; NaN where none has both."""
    import pandas as pd

    tables = []
    for rows in scores.values():
        means = rows.pivot_table(index="method", columns="metric", values="better")
        tables.append(means.reindex(columns=list(metrics)).corr(method="kendall", min_periods=3))
    return pd.concat(tables).groupby(level=0, sort=False).mean()
