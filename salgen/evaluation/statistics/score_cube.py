"""All scores of a run as one dense array, read from `scores.parquet`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError, reason
from salgen.types import Float64

SCORES = "scores.parquet"
SERIES = ("model", "method", "reduction")
AXES = ("metric", "variant", "training_seed", "sample_id")
STANDING = ("target", "correct", "certified")  # per sample, model and training seed
ALL, CORRECT, CERTIFIED = "all", "correct", "certified"
LARGEST = 1e100
SUBSETS = (ALL, CORRECT, CERTIFIED)

Codes = NDArray[np.integer[Any]]


def read_scores(run: Path) -> ScoreCube:
    """The cube of ``scores.parquet`` in a run folder.

    Raises
    ------
    SalgenError
        If the file is missing, damaged, empty, or holds a score twice.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = run / SCORES
    if not path.is_file():
        raise SalgenError(f"{path} is missing: {run} is not a run folder, or `salgen evaluate` has not finished there")
    try:
        names = [*SERIES, *AXES, "cluster", "reason"]
        stored = pq.read_schema(path).names
        columns = [name for name in (*names, "value", "value_worst_case", *STANDING) if name in stored]
        return score_cube(pq.read_table(path, columns=columns, read_dictionary=names))
    except (pa.ArrowException, OSError, ValueError, TypeError, ArithmeticError, MemoryError) as error:
        raise SalgenError(f"{path} is damaged ({reason(error)}): evaluate again into a new folder") from None
    except SalgenError as error:
        raise SalgenError(f"{path}: {error}") from None


@dataclass(frozen=True)
class ScoreCube:
    """All scores of a run, dense.

    Attributes
    ----------
    series
        (model, method, reduction) of each row of maps, in the order of their first score.
    models, metrics, variants, seeds, samples
        The labels of the other axes; seeds and samples are sorted.
    clusters
        int64 (samples,): the number of each sample's cluster; samples of one are not independent.
    cluster_names
        By their numbers.
    value, worst
        float64 (series, metrics, variants, seeds, samples): NaN where undefined or not scored.
    scored
        bool, the same shape: where there is a score, defined or not.
    reason
        Whole numbers, the same shape: the index into `reason_names`, 0 where none was given.
    target
        int64 (models, seeds, samples): the class that was explained.
    correct, certified, has_certificate
        bool, as `target`: whether the model is right, whether its reliance on the feature is certified, and
        whether that is known at all. False where there is no score.
    subset
        The one of `SUBSETS` that the scores are of.
    """

    series: list[tuple[str, str, str]]
    models: list[str]
    metrics: list[str]
    variants: list[str]
    seeds: list[int]
    samples: list[str]
    clusters: NDArray[np.int64]
    cluster_names: list[str]
    value: Float64
    worst: Float64
    scored: NDArray[np.bool_]
    reason: Codes
    reason_names: list[str]
    target: NDArray[np.int64]
    correct: NDArray[np.bool_]
    certified: NDArray[np.bool_]
    has_certificate: NDArray[np.bool_]
    subset: str = ALL

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
        """The scores of all, the correctly classified, or the certified samples; the others are not scored.

        The choice differs between models and training seeds.

        Raises
        ------
        SalgenError
            If there is no such subset.
        """
        if subset not in SUBSETS:
            raise SalgenError(f"samples = {subset!r}: must be one of {', '.join(SUBSETS)}")
        if subset == self.subset:
            return self
        if self.subset != ALL:
            raise SalgenError(f"the {self.subset} samples cannot be restricted to {subset!r}: restrict all samples")
        kept = self.correct if subset == CORRECT else self.certified
        scored = self.scored & kept[self._model_of][:, None, None]
        value, worst = (np.where(scored, array, np.nan) for array in (self.value, self.worst))
        return replace(self, value=value, worst=worst, scored=scored, subset=subset)

    def coverage(self, model: str) -> float:
        """The share of a model's certificates that certify; NaN where it has none."""
        number = self.models.index(model)
        has_certificate = self.has_certificate[number]
        return float(self.certified[number][has_certificate].mean()) if has_certificate.any() else float("nan")

    def samples_of(self, model: str, metric: str, variant: str) -> NDArray[np.bool_]:
        """The samples that a metric is scored on under any method: bool (seeds, samples)."""
        place = self.scored[self.members(model), self.metrics.index(metric), self.variants.index(variant)]
        return np.asarray(place.any(axis=0))

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

    @cached_property
    def _model_of(self) -> list[int]:
        """The number of the model of each entry of the first axis."""
        return [self.models.index(model) for model, _, _ in self.series]


def score_cube(table: Any) -> ScoreCube:
    """The cube of a pyarrow table of :class:`~salgen.types.ResultRow`.

    Raises
    ------
    SalgenError
        If there is no score, a column is missing, or a score is there twice.
    """
    if table.num_rows == 0:
        raise SalgenError("there are no scores: evaluate at least one sample")
    code, names = _all_codes(table)
    keys, series = _number_rows(np.stack([code[column] for column in SERIES], axis=1))
    axes = (series, *(code[column] for column in AXES[:-1]))
    place = (*axes, code[AXES[-1]])
    shape = (len(keys), *(len(names[column]) for column in AXES))
    scored = np.zeros(shape, dtype=bool)
    scored[place] = True
    if scored.sum() != table.num_rows:
        raise SalgenError(f"{table.num_rows - scored.sum()} scores are there twice: evaluate into a new folder")
    reason, reason_names = _reason(code["reason"], names["reason"])
    return ScoreCube(
        series=[(names["model"][m], names["method"][k], names["reduction"][r]) for m, k, r in keys],
        models=names["model"],
        metrics=names["metric"],
        variants=names["variant"],
        seeds=names["training_seed"],
        samples=names["sample_id"],
        clusters=_scatter(code["cluster"].astype(np.int64), (code["sample_id"],), shape[-1:], 0),
        cluster_names=names["cluster"],
        value=_scatter(_values(table, "value"), place, shape, np.nan),
        worst=_scatter(_values(table, "value_worst_case"), place, shape, np.nan),
        scored=scored,
        reason=_scatter(reason, place, shape, 0),
        reason_names=reason_names,
        **_standings(table, code, names),
    )


def _all_codes(table: Any) -> tuple[dict[str, Codes], dict[str, list[Any]]]:
    """The codes and the names of every categorical column."""
    code: dict[str, Codes] = {}
    names: dict[str, list[Any]] = {}
    for column in (*SERIES, *AXES, "cluster", "reason"):
        code[column], names[column] = _codes(table, column)
    for column in ("training_seed", "sample_id", "cluster"):
        code[column], names[column] = _sort_codes(code[column], names[column])
    return code, names


def _number_rows(rows: Codes) -> tuple[list[list[int]], Codes]:
    """The distinct rows in the order of their first appearance, and the number of each row among them."""
    keys, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return keys[order].tolist(), np.argsort(order)[number.reshape(-1)]


def _codes(table: Any, column: str) -> tuple[Codes, list[Any]]:
    """A column as integer codes and the list of their values."""
    import pyarrow as pa

    if column not in table.column_names:
        raise SalgenError(f"the scores have no column {column!r}: evaluate again with this version")
    if table.column(column).null_count:
        raise SalgenError(f"column {column!r} has empty entries: evaluate again with this version")
    encoded = table.column(column)
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    return encoded.indices.to_numpy().astype(np.int32), encoded.dictionary.to_pylist()


def _sort_codes(code: Codes, names: list[Any]) -> tuple[Codes, list[Any]]:
    order = sorted(range(len(names)), key=names.__getitem__)
    return np.argsort(order)[code], [names[i] for i in order]


def _numbers(table: Any, column: str) -> NDArray[Any]:
    if column not in table.column_names:
        raise SalgenError(f"the scores have no column {column!r}: evaluate again with this version")
    return np.asarray(table.column(column).to_numpy())


def _values(table: Any, column: str) -> Float64:
    """A column of scores, each small enough to be squared."""
    values = _numbers(table, column)
    if values.dtype != np.float64 or (np.abs(values[np.isfinite(values)]) > LARGEST).any():
        raise SalgenError(f"column {column!r} holds values that no metric gives: evaluate again into a new folder")
    return values


def _scatter(values: NDArray[Any], place: tuple[Codes, ...], shape: tuple[int, ...], empty: Any) -> NDArray[Any]:
    array = np.full(shape, empty, dtype=values.dtype)
    array[place] = values
    return array


def _reason(code: Codes, names: list[str]) -> tuple[Codes, list[str]]:
    """The codes of reasons in the smallest dtype, 0 where no reason was given, and the reasons."""
    reasons = ["", *(name for name in names if name)]
    number = np.array([reasons.index(name) for name in names], dtype=np.min_scalar_type(len(reasons)))
    return number[code], reasons


def _standings(table: Any, code: dict[str, Codes], names: dict[str, list[Any]]) -> dict[str, Any]:
    """The target, correctness and certificate of each sample: arrays (models, seeds, samples)."""
    axes = ("model", "training_seed", "sample_id")
    place, shape = tuple(code[axis] for axis in axes), tuple(len(names[axis]) for axis in axes)
    target, correct = (_numbers(table, column) for column in ("target", "correct"))
    if "certified" not in table.column_names:
        raise SalgenError("the scores have no column 'certified': evaluate again with this version")
    column = table.column("certified").cast("bool")
    return {
        "target": _scatter(target.astype(np.int64), place, shape, 0),
        "correct": _scatter(correct.astype(bool), place, shape, False),
        "certified": _scatter(np.asarray(column.fill_null(False).to_numpy()), place, shape, False),
        "has_certificate": _scatter(np.asarray(column.is_valid().to_numpy()), place, shape, False),
    }
