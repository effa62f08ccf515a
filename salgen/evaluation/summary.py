"""`summary.csv`: for each method, metric and variant what its scores come to, and how sure that is."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.statistics import CROSSED_SEEDS, bootstrap_interval, normalised
from salgen.files import write_text
from salgen.parameters import parse_call
from salgen.types import Float64

SCORES = "scores.parquet"
SUMMARY = "summary.csv"
ALL_SEEDS = "all"


@dataclass(frozen=True)
class SummaryRow:
    """The scores of one method under one metric and variant, for one training seed or all of them.

    Attributes
    ----------
    n
        Defined values: samples times training seeds.
    n_undefined
        Undefined values; of these `n_excluded_masks` because the mask is unusable, for every method
        alike, and `n_invalid_maps` because the map failed.
    mean, standard_deviation, median
        Of the defined values.
    ci_low, ci_high
        95 % bootstrap interval of the mean; `interval` says over what.
    mean_worst_case, ci_low_worst_case, ci_high_worst_case
        The same when a map that failed has the worst value: what rankings use.
    normalised
        (mean - random) / (oracle - random) on the samples where all three are defined.
    reasons
        How often each reason was given. A value may be defined and have one (a trivial mask).
    """

    model: str
    method: str
    reduction: str
    metric: str
    variant: str
    training_seed: str
    n: int
    n_undefined: int
    n_excluded_masks: int
    n_invalid_maps: int
    mean: float
    standard_deviation: float
    median: float
    ci_low: float
    ci_high: float
    mean_worst_case: float
    ci_low_worst_case: float
    ci_high_worst_case: float
    normalised: float
    interval: str
    reasons: dict[str, int] = field(default_factory=dict)


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

    def seeds_of(self, series: int) -> list[int]:
        """Which entries of the seed axis a series has scores for."""
        return [int(i) for i in np.flatnonzero(self.scored[series].any(axis=(0, 1, 3)))]


def score_cube(table: Any) -> ScoreCube:
    """The cube of a pyarrow table of :class:`~salgen.types.ResultRow`.

    Raises
    ------
    SalgenError
        If there is no score, a column is missing, or a score is there twice.
    """
    if table.num_rows == 0:
        raise SalgenError("there are no scores: evaluate at least one sample")
    code: dict[str, NDArray[np.int64]] = {}
    names: dict[str, list[Any]] = {}
    for column in ("model", "method", "reduction", "metric", "variant", "training_seed", "sample_id", "reason"):
        code[column], names[column] = _codes(table, column)
    for column in ("training_seed", "sample_id"):
        code[column], names[column] = _sorted(code[column], names[column])
    triples = np.stack([code[column] for column in ("model", "method", "reduction")], axis=1)
    keys, first, series = np.unique(triples, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    axes = (np.argsort(order)[series.reshape(-1)], *(code[c] for c in ("metric", "variant", "training_seed")))
    shape = (len(order), *(len(names[c]) for c in ("metric", "variant", "training_seed", "sample_id")))
    place = (*axes, code["sample_id"])
    scored = np.zeros(shape, dtype=bool)
    scored[place] = True
    if scored.sum() != table.num_rows:
        raise SalgenError(f"{table.num_rows - scored.sum()} scores are there twice: evaluate into a new folder")
    return ScoreCube(
        [(names["model"][m], names["method"][k], names["reduction"][r]) for m, k, r in keys[order]],
        *(names[column] for column in ("metric", "variant", "training_seed", "sample_id")),
        _placed(table, "value", place, shape),
        _placed(table, "value_worst_case", place, shape),
        scored,
        _reasons(axes, code["reason"], names["reason"]),
        _wrong(table, code["model"], names["model"]),
    )


def _codes(table: Any, column: str) -> tuple[NDArray[np.int64], list[Any]]:
    """A column as whole numbers and the list of what they stand for."""
    if column not in table.column_names:
        raise SalgenError(f"the scores have no column {column!r}: evaluate again with this version")
    encoded = table.column(column).combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()


def _sorted(code: NDArray[np.int64], names: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
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


def _wrong(table: Any, model: NDArray[np.int64], names: list[str]) -> dict[str, float]:
    correct = table.column("correct").to_numpy().astype(float)
    return {name: float(1.0 - correct[model == number].mean()) for number, name in enumerate(names)}


def summarise(scores: Any) -> list[SummaryRow]:
    """Summary rows of a table of scores (pyarrow) or of its cube: each training seed, then all of them."""
    cube = scores if isinstance(scores, ScoreCube) else score_cube(scores)
    rows: list[SummaryRow] = []
    for model in dict.fromkeys(model for model, _, _ in cube.series):
        members = [i for i, (name, _, _) in enumerate(cube.series) if name == model]
        seeds = cube.seeds_of(members[0])
        for chosen in [[seed] for seed in seeds] + [seeds]:
            label = ALL_SEEDS if chosen is seeds else str(cube.seeds[chosen[0]])
            rows.extend(_rows(cube, members, chosen, label))
    return rows


def _rows(cube: ScoreCube, members: list[int], seeds: list[int], label: str) -> Iterator[SummaryRow]:
    value, worst, scored = (array[members][:, :, :, seeds] for array in (cube.value, cube.worst, cube.scored))
    low, high = _intervals(value)
    same = ((value == worst) | (np.isnan(value) & np.isnan(worst))).all()
    low_worst, high_worst = (low, high) if same else _intervals(worst)
    relative = _normalised(cube, members, value)
    for index in np.ndindex(value.shape[:3]):
        defined = value[index][np.isfinite(value[index])]
        undefined = scored[index] & np.isnan(value[index])
        invalid = int((undefined & np.isfinite(worst[index])).sum())
        metric, variant = index[1:]
        keys = [(members[index[0]], metric, variant, seed) for seed in seeds]
        reasons = sum((cube.reasons.get(key, Counter()) for key in keys), Counter[str]())
        yield SummaryRow(
            *cube.series[members[index[0]]],
            cube.metrics[metric],
            cube.variants[variant],
            label,
            n=defined.size,
            n_undefined=int(undefined.sum()),
            n_excluded_masks=int(undefined.sum()) - invalid,
            n_invalid_maps=invalid,
            mean=_mean(defined),
            standard_deviation=float(defined.std(ddof=1)) if defined.size > 1 else np.nan,
            median=float(np.median(defined)) if defined.size else np.nan,
            ci_low=float(low[index]),
            ci_high=float(high[index]),
            mean_worst_case=_mean(worst[index][np.isfinite(worst[index])]),
            ci_low_worst_case=float(low_worst[index]),
            ci_high_worst_case=float(high_worst[index]),
            normalised=float(relative[index]),
            interval=_interval_words(len(seeds)),
            reasons=dict(sorted(reasons.items())),
        )


def _mean(values: Float64) -> float:
    return float(values.mean()) if values.size else np.nan


def _intervals(values: Float64) -> tuple[Float64, Float64]:
    """Intervals of (series, metrics, variants, seeds, samples) over the last two axes."""
    *shape, seeds, samples = values.shape
    low, high = bootstrap_interval(values.reshape(-1, seeds, samples).transpose(1, 2, 0))
    return low.reshape(shape), high.reshape(shape)


def _interval_words(seeds: int) -> str:
    if seeds >= CROSSED_SEEDS:
        return "training seeds x samples"
    return "samples" if seeds == 1 else "samples; conditional on these models"


def _normalised(cube: ScoreCube, members: list[int], value: Float64) -> Float64:
    names = [parse_call(cube.series[i][1])[0] for i in members]
    if "random" not in names or "oracle" not in names:
        return np.full(value.shape[:3], np.nan)
    return normalised(value, value[names.index("random")], value[names.index("oracle")])


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
        return score_cube(pq.read_table(path))
    except (pa.ArrowException, OSError) as error:
        raise SalgenError(f"{path} is damaged ({error}): evaluate again into a new folder") from None
    except SalgenError as error:
        raise SalgenError(f"{path}: {error}") from None


def write_summary(run: Path) -> Path:
    """Write ``summary.csv`` from ``scores.parquet`` in the folder `run`, and return its path."""
    path = Path(run) / SUMMARY
    write_text(path, summary_csv(summarise(read_scores(Path(run)))))
    return path


def summary_csv(rows: Sequence[SummaryRow]) -> str:
    """The rows as comma-separated text; an undefined number is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [f.name for f in fields(SummaryRow)]
    writer.writerow(names)
    writer.writerows([_cell(getattr(row, name)) for name in names] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{reason}: {count}" for reason, count in value.items())
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)
