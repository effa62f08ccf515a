"""All scores of a run as one dense array, read from `scores.parquet`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.types import Float64

SCORES = "scores.parquet"
SERIES = ("model", "method", "reduction")
AXES = ("metric", "variant", "training_seed", "sample_id")

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
        names = [*SERIES, *AXES, "reason"]
        there = pq.read_schema(path).names
        columns = [name for name in (*names, "value", "value_worst_case", "correct") if name in there]
        return score_cube(pq.read_table(path, columns=columns, read_dictionary=names))
    except (pa.ArrowException, OSError) as error:
        raise SalgenError(f"{path} is damaged ({error}): evaluate again into a new folder") from None
    except SalgenError as error:
        raise SalgenError(f"{path}: {error}") from None


@dataclass(frozen=True)
class ScoreCube:
    """All scores of a run, dense.

    Attributes
    ----------
    series
        (model, method, reduction) of each row of maps, in the order of their first score.
    metrics, variants, seeds, samples
        What the other axes stand for; seeds and samples are sorted.
    value, worst
        float64 (series, metrics, variants, seeds, samples): NaN where undefined or not scored.
    scored
        bool, the same shape: where there is a score, defined or not.
    reasons
        (series, metric, variant, seed) to the number of times each reason was given.
    wrong
        Model to the share of its scored samples that it classifies wrongly.
    """

    series: list[tuple[str, str, str]]
    metrics: list[str]
    variants: list[str]
    seeds: list[int]
    samples: list[str]
    value: Float64
    worst: Float64
    scored: NDArray[np.bool_]
    reasons: dict[tuple[int, int, int, int], Counter[str]]
    wrong: dict[str, float]

    def members(self, model: str) -> list[int]:
        """Which entries of the first axis are this model's."""
        return [index for index, (name, _, _) in enumerate(self.series) if name == model]

    def seeds_of(self, model: str) -> list[int]:
        """Which entries of the seed axis a model has scores for."""
        return [int(i) for i in np.flatnonzero(self.scored[self.members(model)].any(axis=(0, 1, 2, 4)))]


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
    keys, series = _in_order(np.stack([code[column] for column in SERIES], axis=1))
    axes = (series, *(code[column] for column in AXES[:-1]))
    place = (*axes, code[AXES[-1]])
    shape = (len(keys), *(len(names[column]) for column in AXES))
    scored = np.zeros(shape, dtype=bool)
    scored[place] = True
    if scored.sum() != table.num_rows:
        raise SalgenError(f"{table.num_rows - scored.sum()} scores are there twice: evaluate into a new folder")
    return ScoreCube(
        series=[(names["model"][m], names["method"][k], names["reduction"][r]) for m, k, r in keys],
        metrics=names["metric"],
        variants=names["variant"],
        seeds=names["training_seed"],
        samples=names["sample_id"],
        value=_placed(table, "value", place, shape),
        worst=_placed(table, "value_worst_case", place, shape),
        scored=scored,
        reasons=_reasons(axes, code["reason"], names["reason"]),
        wrong=_wrong(table, code["model"], names["model"]),
    )


def _all_codes(table: Any) -> tuple[dict[str, Codes], dict[str, list[Any]]]:
    """Every column that names something, as numbers and as what they stand for."""
    code: dict[str, Codes] = {}
    names: dict[str, list[Any]] = {}
    for column in (*SERIES, *AXES, "reason"):
        code[column], names[column] = _codes(table, column)
    for column in ("training_seed", "sample_id"):
        code[column], names[column] = _sorted(code[column], names[column])
    return code, names


def _in_order(rows: Codes) -> tuple[list[list[int]], Codes]:
    """The distinct rows in the order of their first appearance, and the number of each row among them."""
    keys, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return keys[order].tolist(), np.argsort(order)[number.reshape(-1)]


def _codes(table: Any, column: str) -> tuple[Codes, list[Any]]:
    """A column as whole numbers and the list of what they stand for."""
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


def _sorted(code: Codes, names: list[Any]) -> tuple[Codes, list[Any]]:
    order = sorted(range(len(names)), key=names.__getitem__)
    return np.argsort(order)[code], [names[i] for i in order]


def _placed(table: Any, column: str, place: tuple[Any, ...], shape: tuple[int, ...]) -> Float64:
    array = np.full(shape, np.nan)
    array[place] = table.column(column).to_numpy()
    return array


def _reasons(axes: tuple[Any, ...], reason: Any, names: list[str]) -> dict[tuple[int, int, int, int], Counter[str]]:
    found: dict[tuple[int, int, int, int], Counter[str]] = {}
    given = np.array([bool(name) for name in names])[reason]
    rows, counts = np.unique(np.stack([*axes, reason], axis=1)[given], axis=0, return_counts=True)
    for (*key, number), count in zip(rows.tolist(), counts.tolist(), strict=True):
        found.setdefault(tuple(key), Counter())[names[number]] = count
    return found


def _wrong(table: Any, model: Codes, names: list[str]) -> dict[str, float]:
    correct = table.column("correct").to_numpy().astype(float)
    return {name: float(1.0 - correct[model == number].mean()) for number, name in enumerate(names)}
