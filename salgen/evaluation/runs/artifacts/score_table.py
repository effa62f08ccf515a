"""`scores.parquet`: the rows of all chunks, completed where a value depends on samples of other chunks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.runs.artifacts.chunk_files import MEASURES, RESULT_COLUMNS, ScoreChunk, read_rows
from salgen.evaluation.scoring.metric_computation import aggregate_partial, worst_of
from salgen.files import atomic_path
from salgen.types import Float64

ROWS = 2**15  # rows of a row group, about
PLACE = ("model", "training_seed", "method", "metric", "variant")
_place: Any = itemgetter(*PLACE)  # the place of a row
Certified = Mapping[tuple[str, int], Mapping[str, bool]]  # model and training seed to sample id
Place = tuple[str, int, str, str, str]
Worst = dict[tuple[str, str], float]  # unbounded metric and variant to the worst value of any map
Values = dict[Place, dict[str, float]]  # place of a data set metric to its value for each sample id


def write_scores(
    chunks: Sequence[ScoreChunk],
    metrics: Mapping[str, Metric],
    path: Path,
    dataset: str,
    certified: Certified,
    further: Iterable[pa.Table] = (),
) -> None:
    """Write all rows in one file, some chunks at a time; `further` tables have rows that belong to no chunk."""
    across = _across_chunks(chunks, metrics)
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, pa.schema(RESULT_COLUMNS)) as writer:
        for table in _merged(chain((_completed(read_rows(chunk.path), *across) for chunk in chunks), further)):
            keys = zip(*(table[name].to_pylist() for name in ("model", "training_seed", "sample_id")), strict=True)
            known = [certified.get((model, seed), {}).get(sample) for model, seed, sample in keys]
            table = _with_column(table, "dataset", pa.array([dataset] * len(table), pa.string()))
            writer.write_table(_with_column(table, "certified", pa.array(known, pa.bool_())))


def _with_column(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, column)


def _merged(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Larger tables of the columns that are written: thousands of small row groups take more memory than they hold."""
    held: list[pa.Table] = []
    for table in tables:
        held.append(table.select(list(RESULT_COLUMNS)))
        if sum(map(len, held)) >= ROWS:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)


def _across_chunks(chunks: Sequence[ScoreChunk], metrics: Mapping[str, Metric]) -> tuple[Worst, Values]:
    """The values that depend on all chunks together, collected before the first row is written."""
    of_data_sets = {name: metric for name, metric in metrics.items() if hasattr(metric, "aggregate")}
    unbounded = {name: metric for name, metric in metrics.items() if np.isinf(worst_of(metric))}
    worst: Worst = {}
    measures: dict[Place, dict[str, Any]] = defaultdict(dict)
    for chunk in chunks if of_data_sets or unbounded else ():
        rows = read_rows(chunk.path)
        wanted = rows.filter(pc.is_in(rows["metric"], pa.array([*of_data_sets, *unbounded], pa.string())))
        for row in wanted.select([*PLACE, "sample_id", "value", MEASURES]).to_pylist():
            metric = metrics[row["metric"]]
            if row[MEASURES] is not None:
                measures[_place(row)][row["sample_id"]] = row[MEASURES]
            elif row["metric"] in unbounded and np.isfinite(row["value"]):
                key, better = (row["metric"], row["variant"]), min if metric.higher_is_better else max
                worst[key] = better(worst.get(key, row["value"]), row["value"])
    return worst, {place: _values(metrics[place[3]], of_place) for place, of_place in measures.items()}


def _values(metric: Metric, measures: Mapping[str, Any]) -> dict[str, float]:
    """The values of a data set metric for all samples of one method, in the samples' order whatever the chunks."""
    samples = sorted(measures)
    kept: list[Float64 | None] = [np.asarray(measures[sample]) for sample in samples]
    return dict(zip(samples, aggregate_partial(metric, np.full(len(samples), np.nan), kept).tolist(), strict=True))


def _completed(rows: pa.Table, worst_of_any: Worst, values: Values) -> pa.Table:
    """A chunk's rows with the values that depend on other chunks."""
    value, worst = rows["value"].to_numpy().copy(), rows["value_worst_case"].to_numpy().copy()
    kept = rows[MEASURES].is_valid().to_numpy()
    changed = np.flatnonzero(kept | np.isinf(worst))
    if not len(changed):
        return rows
    for number, row in zip(changed, rows.take(changed).select([*PLACE, "sample_id"]).to_pylist(), strict=True):
        if kept[number]:
            value[number] = worst[number] = values[_place(row)][row["sample_id"]]
        else:
            worst[number] = worst_of_any.get((row["metric"], row["variant"]), np.nan)
    rows = _with_column(rows, "value", pa.array(value, pa.float64()))
    return _with_column(rows, "value_worst_case", pa.array(worst, pa.float64()))
