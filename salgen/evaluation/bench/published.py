"""The published results of salgen-bench, one folder for each entry and split: written from its run, and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from salgen.errors import SalgenError, reason
from salgen.evaluation.bench.versions import BenchSpec
from salgen.evaluation.report.gallery import GALLERY, LEVELS, read_gallery, strongest
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.scoring.metric_selection import bounds, higher_is_better
from salgen.evaluation.statistics.comparison_groups import is_ceiling
from salgen.evaluation.statistics.mean_intervals import mean_intervals
from salgen.evaluation.statistics.score_cube import ALL, CERTIFIED, SCORES
from salgen.evaluation.statistics.summary import SUMMARY
from salgen.files import atomic_path, copy_file, read_csv, strict_json, write_text
from salgen.parameters import canonical_json
from salgen.types import Float64

T = TypeVar("T")
SPEC = "salgen-bench.json"
SAMPLE = ["training_seed", "sample_id"]
SCORED = ["method", "metric", *SAMPLE]
OF_SAMPLE = ["cluster", "correct", "certified"]
ROUNDED = "%.6g"  # numbers in CSV
PICTURES = 4


def keep_results(spec: BenchSpec, run: Path, results: Path, *, gallery: bool = False) -> None:
    """Write what is published of a run: its record, the scores of the headline region, perhaps maps for pictures."""
    made = Run(run)
    rows = published_rows(made)
    results.mkdir(parents=True, exist_ok=True)
    write_rows(spec, rows, results)
    copy_file(run / RECORD, results / RECORD)
    if gallery:
        _keep_pictures(run / GALLERY, results / GALLERY)
    write_text(results / SPEC, canonical_json(spec.stated) + "\n")


def write_rows(spec: BenchSpec, rows: pd.DataFrame, results: Path) -> None:
    """Write ``scores.parquet`` and ``summary.csv``, whose rows have the version of the benchmark and its digest."""
    stated = stated_in_rows(spec)
    store_rows(rows.assign(**stated), results, stated)
    summary = summarised(rows).assign(entry=results.name, **stated)
    write_text(results / SUMMARY, summary.to_csv(index=False, float_format=ROUNDED, lineterminator="\n"))


def store_rows(rows: pd.DataFrame, results: Path, repeated: Iterable[str] = ()) -> None:
    """Write ``scores.parquet`` in little room; in the columns `repeated` and in those of samples values repeat."""
    with atomic_path(results / SCORES) as path:
        rows.to_parquet(
            path,
            index=False,
            compression="zstd",
            compression_level=19,
            # a dictionary of values, which hardly repeat, would take more room
            use_dictionary=[*SCORED, "cluster", *repeated],
            use_byte_stream_split=["value"],
        )


def stated_in_rows(spec: BenchSpec) -> dict[str, Any]:
    """The columns by which each row of a table says what it is of."""
    return {"version": spec.version, "sha256": spec.digest[:12]}


def published_rows(run: Run) -> pd.DataFrame:
    """Scores of the headline region, and of metrics without one; `value` is the worst where the map has `failed`."""
    scores, headline = run.scores, run.scores["variant"] == run.record.headline_variant
    scores = scores[headline | ~scores["metric"].isin(scores.loc[headline, "metric"])]
    value = scores["value_worst_case"].astype(np.float32)
    return scores[[*SCORED, *OF_SAMPLE]].assign(value=value, failed=scores["value"].isna() & value.notna())


def summarised(rows: pd.DataFrame) -> pd.DataFrame:
    """Means of methods by metrics, over all or the certified samples, with 95 % intervals, counts and seeds."""
    found = []
    for samples, chosen in ((ALL, rows), (CERTIFIED, rows[is_certified(rows)])):
        for metric, of_metric in chosen.groupby("metric", sort=False):
            scores = score_array(of_metric)
            limits = (np.full(len(scores.methods), bound) for bound in bounds(str(metric)))
            ends = mean_intervals(scores.values, scores.clusters, *limits)
            for method, values, low, high in zip(scores.methods, np.moveaxis(scores.values, 2, 0), *ends, strict=True):
                defined = np.isfinite(values)
                used = defined.any(axis=0)
                found.append(
                    {
                        "samples": samples,
                        "method": method,
                        "metric": metric,
                        "n_clusters": len(np.unique(scores.clusters[used])),
                        "n_samples": int(used.sum()),
                        "training_seeds": " ".join(map(str, scores.seeds[defined.any(axis=1)])),
                        "mean": values[defined].mean() if defined.any() else np.nan,
                        "ci_low": low,
                        "ci_high": high,
                    }
                )
    return pd.DataFrame(found).sort_values(["samples", "method"], kind="stable", ignore_index=True)


class ScoreArray(NamedTuple):
    """Scores by one metric."""

    values: Float64  # float64 (S, N, K): of N samples under S trainings by K methods; NaN where there is none
    clusters: NDArray[np.int64]  # int64 (N,): the number of each sample's cluster
    seeds: NDArray[np.int64]  # int64 (S,): of the trainings
    methods: list[str]  # their calls


def score_array(rows: pd.DataFrame) -> ScoreArray:
    """The scores by one metric, from the columns of :func:`published_rows`."""
    table = rows.pivot(index=SAMPLE, columns="method", values="value")
    seeds, names = (table.index.unique(level).sort_values() for level in SAMPLE)
    values = table.reindex(pd.MultiIndex.from_product([seeds, names])).to_numpy(float)
    clusters = rows.drop_duplicates("sample_id").set_index("sample_id")["cluster"][names]
    numbers = np.unique(clusters, return_inverse=True)[1]
    return ScoreArray(values.reshape(len(seeds), len(names), -1), numbers, seeds.to_numpy(), [*table.columns])


def is_certified(rows: pd.DataFrame) -> pd.Series:
    """Whether the network is known to use the cause on the sample of each row, bool."""
    return rows["certified"].fillna(value=False).astype(bool)


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


def open_results(spec: BenchSpec, results: Path) -> RunRecord:
    """The record of the results of one entry."""
    stated = _read(lambda path: strict_json(path.read_text(encoding="utf-8")), results / SPEC)
    if stated != spec.stated:
        raise SalgenError(f"{results} is not of salgen-bench {spec.version}: it states {stated}")
    return RunRecord.read(results / RECORD)


def read_rows(spec: BenchSpec, results: Path) -> pd.DataFrame:
    """The scores of one entry: the columns of :func:`published_rows`, and those of version and digest."""
    open_results(spec, results)
    return _read(pd.read_parquet, results / SCORES)


def read_summary(results: Path) -> pd.DataFrame:
    """``summary.csv`` of one entry."""
    return _read(read_csv, results / SUMMARY)


def _read(reader: Callable[[Path], T], path: Path) -> T:
    """What a reader makes of a file of results."""
    try:
        return reader(path)
    except (OSError, ValueError) as error:
        raise SalgenError(f"{path} is missing or damaged ({reason(error)}): fetch or run the results again") from None


def read_scores(spec: BenchSpec, results: Path, metrics: Collection[str] | None = None) -> pd.DataFrame:
    """The scores of methods and floors of one entry, `floor`, and `better`, the value signed so that higher is."""
    rows, record = read_rows(spec, results), open_results(spec, results)
    rows = rows if metrics is None else rows[rows["metric"].isin(metrics)]
    controls = [method.call for method in record.methods if method.control]
    rows = rows[~rows["method"].isin([call for call in controls if is_ceiling(call)])]
    return rows.assign(floor=rows["method"].isin(controls), better=rows["value"] * direction(rows["metric"]))


def direction(metrics: pd.Series) -> pd.Series:
    """1 where higher is better, -1 where lower is, and NaN for a diagnostic."""
    signs = {metric: {True: 1.0, False: -1.0, None: np.nan}[higher_is_better(metric)] for metric in metrics.unique()}
    return metrics.map(signs).astype(float)
