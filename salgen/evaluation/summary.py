"""`summary.csv`: for each method, metric and variant what its scores come to, and how sure that is."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.evaluation.bootstrap import CROSSED_SEEDS, bootstrap_interval
from salgen.evaluation.metric_groups import bounds
from salgen.evaluation.score_cube import ScoreCube, read_scores, score_cube
from salgen.evaluation.statistics import normalised
from salgen.files import write_text
from salgen.parameters import parse_call
from salgen.types import Float64

SUMMARY = "summary.csv"
ALL_SEEDS = "all"


@dataclass(frozen=True)
class SummaryRow:
    """The scores of one method under one metric and variant, for one training seed or all of them.

    Attributes
    ----------
    samples
        Which samples count: ``"all"``, ``"correct"`` or ``"certified"`` ones.
    n
        Defined values: samples times training seeds.
    n_undefined
        Undefined values; of these `n_excluded_masks` because the mask is unusable, for every method
        alike, and `n_invalid_maps` because the map failed.
    mean, standard_deviation, median
        Of the defined values.
    mean_per_class
        The mean over target classes of the means within each: all classes weigh alike.
    ci_low, ci_high
        95 % bootstrap interval of the mean, within the metric's bounds; `interval` says over what.
    mean_worst_case, ci_low_worst_case, ci_high_worst_case
        The same when a map that failed has the worst value: what rankings use.
    normalised
        (mean - random) / (oracle - random) on the samples where all three are defined.
    reasons
        How often each reason was given. A value may be defined and have one (a trivial mask).
    """

    samples: str
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
    mean_per_class: float
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


def summarise(scores: Any) -> list[SummaryRow]:
    """Summary rows of a table of scores (pyarrow) or of its cube: each training seed, then all of them.

    The rows are of the cube's subset of samples; what was not scored there has no row.
    """
    cube = scores if isinstance(scores, ScoreCube) else score_cube(scores)
    rows: list[SummaryRow] = []
    for model in dict.fromkeys(model for model, _, _ in cube.series):
        seeds = cube.seeds_of(model)
        for chosen in [[seed] for seed in seeds] + ([seeds] if seeds else []):
            label = ALL_SEEDS if chosen is seeds else str(cube.seeds[chosen[0]])
            rows.extend(_rows(cube, model, chosen, label))
    return rows


def summarise_subsets(cube: ScoreCube) -> list[SummaryRow]:
    """The rows of :func:`summarise` for each of the cube's subsets of samples."""
    return [row for subset in cube.subsets for row in summarise(cube.restricted(subset))]


def _rows(cube: ScoreCube, model: str, seeds: list[int], label: str) -> Iterator[SummaryRow]:
    members = cube.members(model)
    value, worst = cube.value[members][:, :, :, seeds], cube.worst[members][:, :, :, seeds]
    scored = cube.scored[members][:, :, :, seeds]
    classes = np.unique(cube.target[cube.models.index(model)][seeds], return_inverse=True)[1].reshape(len(seeds), -1)
    low, high = _intervals(value, cube.metrics)
    same = ((value == worst) | (np.isnan(value) & np.isnan(worst))).all()
    low_worst, high_worst = (low, high) if same else _intervals(worst, cube.metrics)
    relative = _normalised(cube, members, value)
    for index in zip(*np.nonzero(scored.any(axis=(3, 4))), strict=True):
        member, metric, variant = (members[index[0]], int(index[1]), int(index[2]))
        name, method, reduction = cube.series[member]
        reasons = sum((cube.reasons.get((member, metric, variant, seed), Counter()) for seed in seeds), Counter[str]())
        yield SummaryRow(
            samples=cube.subset,
            model=name,
            method=method,
            reduction=reduction,
            metric=cube.metrics[metric],
            variant=cube.variants[variant],
            training_seed=label,
            **_counts_and_means(value[index], worst[index], scored[index], classes),
            ci_low=float(low[index]),
            ci_high=float(high[index]),
            ci_low_worst_case=float(low_worst[index]),
            ci_high_worst_case=float(high_worst[index]),
            normalised=float(relative[index]),
            interval=_interval_words(len(seeds)),
            reasons=dict(sorted(reasons.items())),
        )


def _counts_and_means(
    value: Float64, worst: Float64, scored: NDArray[np.bool_], classes: NDArray[np.int64]
) -> dict[str, Any]:
    """The fields of a row that come of its own values, arrays (seeds, samples), alone."""
    known = np.isfinite(value)
    defined, undefined = value[known], scored & ~known
    invalid = int((undefined & np.isfinite(worst)).sum())
    return {
        "n": defined.size,
        "n_undefined": int(undefined.sum()),
        "n_excluded_masks": int(undefined.sum()) - invalid,
        "n_invalid_maps": invalid,
        "mean": _mean(defined),
        "mean_per_class": _mean_per_class(defined, classes[known]),
        "standard_deviation": float(defined.std(ddof=1)) if defined.size > 1 else np.nan,
        "median": float(np.median(defined)) if defined.size else np.nan,
        "mean_worst_case": _mean(worst[np.isfinite(worst)]),
    }


def _mean(values: Float64) -> float:
    return float(values.mean()) if values.size else np.nan


def _mean_per_class(values: Float64, classes: NDArray[np.int64]) -> float:
    counts = np.bincount(classes)
    return _mean(np.bincount(classes, weights=values)[counts > 0] / counts[counts > 0])


def _intervals(values: Float64, metrics: Sequence[str]) -> tuple[Float64, Float64]:
    """Intervals of (series, metrics, variants, seeds, samples) over the last two axes, within the metrics' bounds."""
    *shape, seeds, samples = values.shape
    found = bootstrap_interval(values.reshape(-1, seeds, samples).transpose(1, 2, 0))
    least, most = np.array([bounds(metric) for metric in metrics]).T[:, None, :, None]
    low, high = (np.clip(end.reshape(shape), least, most) for end in found)
    return low, high


def _interval_words(seeds: int) -> str:
    if seeds >= CROSSED_SEEDS:
        return "training seeds x samples"
    return "samples" if seeds == 1 else "samples; conditional on these models"


def _normalised(cube: ScoreCube, members: list[int], value: Float64) -> Float64:
    names = [parse_call(cube.series[i][1])[0] for i in members]
    if "random" not in names or "oracle" not in names:
        return np.full(value.shape[:3], np.nan)
    return normalised(value, value[names.index("random")], value[names.index("oracle")])


def write_summary(run: Path) -> Path:
    """Write ``summary.csv`` from ``scores.parquet`` in the folder `run`, and return its path."""
    path = Path(run) / SUMMARY
    write_text(path, csv_text([f.name for f in fields(SummaryRow)], summarise_subsets(read_scores(Path(run)))))
    return path


def csv_text(columns: Sequence[str], rows: Iterable[Any]) -> str:
    """Attributes of rows as comma-separated text under their names; an undefined number is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(getattr(row, name)) for name in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{reason}: {count}" for reason, count in value.items())
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    return str(value)
