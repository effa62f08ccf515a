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

from salgen.evaluation.score_cube import ScoreCube, read_scores, score_cube
from salgen.evaluation.statistics import CROSSED_SEEDS, bootstrap_interval, normalised
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


def summarise(scores: Any) -> list[SummaryRow]:
    """Summary rows of a table of scores (pyarrow) or of its cube: each training seed, then all of them."""
    cube = scores if isinstance(scores, ScoreCube) else score_cube(scores)
    rows: list[SummaryRow] = []
    for model in dict.fromkeys(model for model, _, _ in cube.series):
        members, seeds = cube.members(model), cube.seeds_of(model)
        for chosen in [[seed] for seed in seeds] + [seeds]:
            label = ALL_SEEDS if chosen is seeds else str(cube.seeds[chosen[0]])
            rows.extend(_rows(cube, members, chosen, label))
    return rows


def _rows(cube: ScoreCube, members: list[int], seeds: list[int], label: str) -> Iterator[SummaryRow]:
    value, worst = cube.value[members][:, :, :, seeds], cube.worst[members][:, :, :, seeds]
    scored = cube.scored[members][:, :, :, seeds]
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
