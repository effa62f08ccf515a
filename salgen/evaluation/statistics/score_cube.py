"""All scores of a run as one dense array, read from `scores.parquet`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError, reason
from salgen.types import Float64

SCORES = "scores.parquet"
SERIES = ("model", "method", "reduction")
AXES = ("metric", "variant", "training_seed", "sample_id")
SERIES_AXIS = ("series",)
CATEGORIES = (*SERIES, *AXES, "cluster", "reason")
SORTED = frozenset({"training_seed", "sample_id", "cluster"})
COLUMNS = (*CATEGORIES, "value", "value_worst_case", "target", "correct", "certified")
ALL, CORRECT, CERTIFIED = "all", "correct", "certified"
LARGEST = 1e100
ROWS = 2**18  # read at once
HELD = 2**19  # scores in a cube of `score_cubes`, unless one metric has more; with what is computed, 80 bytes each
SUBSETS = (ALL, CORRECT, CERTIFIED)

Codes = NDArray[np.integer[Any]]


def read_scores(run: Path) -> ScoreCube:
    """The cube of ``scores.parquet`` in a run folder."""
    with _parts_of(run) as parts:
        axes = _axes_of(parts)
        return _filled(parts, axes, axes.names["metric"])


def score_cubes(run: Path, held: int = HELD) -> Iterator[ScoreCube]:
    """The cubes of a run with some metrics each, at most `held` scores or one metric; together :func:`read_scores`."""
    with _parts_of(run) as parts:
        axes = _axes_of(parts)
        names = axes.names["metric"]
        at_a_time = max(1, held * len(names) // math.prod(axes.shape((*SERIES_AXIS, *AXES))))
        for start in range(0, len(names), at_a_time):
            yield _filled(parts, axes, names[start : start + at_a_time])


@contextmanager
def _parts_of(run: Path) -> Iterator[_RowGroups]:
    """The rows of a run's scores; errors name the file."""
    import pyarrow as pa

    path = run / SCORES
    if not path.is_file():
        raise SalgenError(f"{path} is missing: {run} is not a run folder, or `salgen evaluate` has not finished there")
    try:
        yield _RowGroups(path)
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as error:
        raise SalgenError(f"{path} is damaged ({reason(error)}): evaluate again into a new folder") from None


@dataclass(frozen=True)
class ScoreCube:
    """All scores of a run, dense."""

    # (model, method, reduction) of each row of maps, in the order of their first score
    series: list[tuple[str, str, str]]
    # models, metrics, variants, seeds, samples: the labels of the other axes; seeds and samples are sorted
    models: list[str]
    metrics: list[str]
    variants: list[str]
    seeds: list[int]
    samples: list[str]
    # int64 (samples,): the number of each sample's cluster; samples of one are not independent
    clusters: NDArray[np.int64]
    cluster_names: list[str]  # by their numbers
    # value, worst: float64 (series, metrics, variants, seeds, samples): NaN where undefined or not scored
    value: Float64
    worst: Float64
    scored: NDArray[np.bool_]  # bool, the same shape: where there is a score, defined or not
    reason: Codes  # whole numbers, the same shape: the index into `reason_names`, 0 where none was given
    reason_names: list[str]
    target: NDArray[np.int64]  # int64 (models, seeds, samples): the class that was explained
    # correct, certified, has_certificate: bool, as `target`: whether the model is right, whether its reliance on the
    # feature is certified, and whether that is known at all. False where there is no score
    correct: NDArray[np.bool_]
    certified: NDArray[np.bool_]
    has_certificate: NDArray[np.bool_]
    subset: str = ALL  # the one of `SUBSETS` that the scores are of

    def members(self, model: str) -> list[int]:
        """Indices of a model's entries on the first axis."""
        return [index for index, (name, _, _) in enumerate(self.series) if name == model]

    def seeds_of(self, model: str) -> list[int]:
        """Indices of the seeds for which a model has scores."""
        return [int(i) for i in np.flatnonzero(self.scored[self.members(model)].any(axis=(0, 1, 2, 4)))]

    @cached_property
    def subsets(self) -> list[str]:
        """The subsets that tables can be made of: the certified samples only where there are certificates."""
        return [name for name in SUBSETS if name != CERTIFIED or self.has_certificate.any()]

    def restricted(self, subset: str) -> ScoreCube:
        """The scores of all, correct or certified samples, as each model and seed has them; others are not scored."""
        if subset == self.subset:
            return self
        kept = self.correct if subset == CORRECT else self.certified
        model_of = [self.models.index(model) for model, _, _ in self.series]
        scored = self.scored & kept[model_of][:, None, None]
        value, worst = (np.where(scored, array, np.nan) for array in (self.value, self.worst))
        return replace(self, value=value, worst=worst, scored=scored, subset=subset)

    def samples_of(self, model: str, metric: str, variant: str) -> NDArray[np.bool_]:
        """The samples that a metric is scored on under any method: bool (seeds, samples)."""
        scored = self.scored[self.members(model), self.metrics.index(metric), self.variants.index(variant)]
        return np.asarray(scored.any(axis=0))

    def wrong(self, model: str, metric: str, variant: str) -> float:
        """The share of a metric's samples that a model classifies wrongly; NaN where there is none."""
        is_scored = self.samples_of(model, metric, variant)
        return float((~self.correct[self.models.index(model)])[is_scored].mean()) if is_scored.any() else float("nan")

    @cached_property
    def reasons(self) -> dict[tuple[int, int, int, int], Counter[str]]:
        """(series, metric, variant, seed) to the number of times each reason was given."""
        place = np.nonzero((self.reason != 0) & self.scored)
        shape = (*self.scored.shape[:4], len(self.reason_names))
        numbers, counts = np.unique(np.ravel_multi_index((*place[:4], self.reason[place]), shape), return_counts=True)
        keys = np.stack(np.unravel_index(numbers, shape), axis=1).tolist()
        counters: dict[tuple[int, int, int, int], Counter[str]] = {}
        for (*key, number), count in zip(keys, counts.tolist(), strict=True):
            counters.setdefault(tuple(key), Counter())[self.reason_names[number]] = count
        return counters


def _filled(parts: Iterable[Any], axes: _Axes, metrics: list[str]) -> ScoreCube:
    """The cube of some metrics of a table in parts."""
    axes = axes.of_metrics(metrics)
    shape, standing = axes.shape((*SERIES_AXIS, *AXES)), axes.shape(("model", "training_seed", "sample_id"))
    value, worst = np.full(shape, np.nan), np.full(shape, np.nan)
    scored = np.zeros(shape, dtype=bool)
    number_of_reason, reason_names = _reasons(axes.names["reason"])
    reason = np.zeros(shape, dtype=number_of_reason.dtype)
    clusters = np.zeros(shape[-1], dtype=np.int64)
    standings: dict[str, Any] = {
        "target": np.zeros(standing, dtype=np.int64),
        **{name: np.zeros(standing, dtype=bool) for name in ("correct", "certified", "has_certificate")},
    }
    for table in parts:
        code = axes.codes(table)
        chosen = code["metric"] >= 0
        place = tuple(code[column][chosen] for column in (*SERIES_AXIS, *AXES))
        scored[place] = True
        value[place], worst[place] = (_values(table, column)[chosen] for column in ("value", "value_worst_case"))
        reason[place] = number_of_reason[code["reason"][chosen]]
        clusters[code["sample_id"]] = code["cluster"]
        place = tuple(code[column] for column in ("model", "training_seed", "sample_id"))
        for name, column in _standings(table).items():
            standings[name][place] = column
    model, method, reduction = (axes.names[column] for column in SERIES)
    return ScoreCube(
        series=[(model[m], method[k], reduction[r]) for m, k, r in axes.series],
        models=model,
        metrics=metrics,
        variants=axes.names["variant"],
        seeds=axes.names["training_seed"],
        samples=axes.names["sample_id"],
        clusters=clusters,
        cluster_names=axes.names["cluster"],
        value=value,
        worst=worst,
        scored=scored,
        reason=reason,
        reason_names=reason_names,
        **standings,
    )


class _RowGroups:
    """The rows of a Parquet file, a few row groups at a time; each walk reads the file again."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.file = pq.ParquetFile(path, read_dictionary=list(CATEGORIES))

    def __iter__(self) -> Iterator[Any]:
        metadata = self.file.metadata
        ends = np.cumsum([metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)])
        for _, groups in groupby(range(len(ends)), key=lambda number: ends[number] // ROWS):
            yield self.file.read_row_groups(list(groups), columns=list(COLUMNS))


@dataclass(frozen=True)
class _Axes:
    """The names on the axes of a cube."""

    names: dict[str, list[Any]]  # categorical column to its values: sorted, or in the order of their first appearance
    numbers: dict[str, dict[Any, int]]  # categorical column to the number of each value
    series: list[tuple[int, ...]]  # numbers of model, method and reduction, in the order of their first appearance

    def shape(self, columns: Sequence[str]) -> tuple[int, ...]:
        """The lengths of some axes."""
        return tuple(len(self.series if column in SERIES_AXIS else self.names[column]) for column in columns)

    def of_metrics(self, metrics: list[str]) -> _Axes:
        """The axes of some metrics' scores; the others have the number -1."""
        numbers = dict.fromkeys(self.names["metric"], -1) | {name: number for number, name in enumerate(metrics)}
        return replace(self, names={**self.names, "metric": metrics}, numbers={**self.numbers, "metric": numbers})

    def codes(self, table: Any) -> dict[str, Codes]:
        """The places of a table's rows on all axes, by column."""
        code = {column: _codes(table, column, self.numbers[column]) for column in CATEGORIES}
        shape = self.shape(SERIES)
        place = np.zeros(math.prod(shape), dtype=np.int32)
        place[np.ravel_multi_index(np.transpose(self.series), shape)] = np.arange(len(self.series))
        return {**code, SERIES_AXIS[0]: place[np.ravel_multi_index([code[column] for column in SERIES], shape)]}


def _axes_of(parts: Iterable[Any]) -> _Axes:
    """The names in a table that comes in parts."""
    found: dict[str, dict[Any, int]] = {column: {} for column in CATEGORIES}
    series: dict[tuple[int, ...], None] = {}
    for table in parts:
        code = {column: _codes(table, column, found[column], grow=True) for column in CATEGORIES}
        rows = np.stack([code[column] for column in SERIES], axis=1)
        changes = np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1
        series |= dict.fromkeys(map(tuple, rows[[0, *changes] if len(rows) else []].tolist()))
    names = {column: sorted(values) if column in SORTED else list(values) for column, values in found.items()}
    numbers = {column: {name: number for number, name in enumerate(values)} for column, values in names.items()}
    return _Axes(names, numbers, list(series))


def _codes(table: Any, column: str, numbers: dict[Any, int], *, grow: bool = False) -> Codes:
    """A categorical column by the numbers of its values; new ones are numbered if `grow`."""
    import pyarrow as pa

    encoded = table.column(column)
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    values = encoded.dictionary.to_pylist()
    if grow:
        for value in values:
            numbers.setdefault(value, len(numbers))
    return np.asarray(np.array([numbers[value] for value in values], dtype=np.int32)[encoded.indices.to_numpy()])


def _values(table: Any, column: str) -> Float64:
    """A column of scores, each small enough to be squared."""
    values = np.asarray(table.column(column).to_numpy())
    if values.dtype != np.float64 or (np.abs(values[np.isfinite(values)]) > LARGEST).any():
        raise ValueError(f"column {column!r} holds values that no metric gives")
    return values


def _reasons(names: list[str]) -> tuple[Codes, list[str]]:
    """The number of each reason in the smallest dtype, 0 where none was given, and the reasons."""
    reasons = ["", *(name for name in names if name)]
    return np.array([reasons.index(name) for name in names], dtype=np.min_scalar_type(len(reasons))), reasons


def _standings(table: Any) -> dict[str, NDArray[Any]]:
    """Target, correctness and certificate of each row's sample."""
    certified = table.column("certified").cast("bool")
    return {
        "target": table.column("target").to_numpy().astype(np.int64),
        "correct": table.column("correct").to_numpy().astype(bool),
        "certified": np.asarray(certified.fill_null(False).to_numpy()),
        "has_certificate": np.asarray(certified.is_valid().to_numpy()),
    }
