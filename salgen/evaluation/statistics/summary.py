"""`summary.csv`: the mean score of each method, metric and variant, with its interval."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.evaluation.metrics.inputs.metric import EMPTY_MASK, TRIVIAL_FULL_MASK, UNUSABLE_SAMPLE
from salgen.evaluation.scoring.metric_selection import bounds, higher_is_better
from salgen.evaluation.statistics.mean_intervals import LEAST_TRAININGS, mean_intervals
from salgen.evaluation.statistics.score_cube import ScoreCube
from salgen.evaluation.statistics.tolerance import differences
from salgen.files import csv_cell
from salgen.parameters import parse_call
from salgen.types import Float64

SUMMARY = "summary.csv"
ALL_SEEDS = "all"
WHY_UNDEFINED = ("n_excluded_masks", "n_invalid_maps", "n_not_applicable")


@dataclass(frozen=True)
class SummaryRow:
    """The scores of one method under one metric and variant, for one training seed or all of them."""

    samples: str  # the samples that count: `"all"`, `"correct"` or `"certified"` ones
    model: str
    method: str
    reduction: str
    metric: str
    variant: str
    training_seed: str
    n: int  # defined values: samples times training seeds
    # n_clusters, n_samples, n_trainings: the clusters, samples and training seeds that have any; samples of one cluster
    # are not independent
    n_clusters: int
    n_samples: int
    n_trainings: int
    # undefined values; of these `n_excluded_masks` because the mask is unusable, `n_not_applicable` because the sample
    # has no value by the metric's definition (misclassified, without a twin), both for every method alike, and
    # `n_invalid_maps` because the map failed
    n_undefined: int
    n_excluded_masks: int
    n_invalid_maps: int
    n_not_applicable: int
    # mean, standard_deviation, median: of the defined values
    mean: float
    mean_per_class: float  # the mean over target classes of the means within each: all classes weigh alike
    standard_deviation: float
    median: float
    # ci_low, ci_high: 95 % interval of the mean, within the metric's bounds; NaN for less than two clusters, and where
    # all values are equal and at no bound
    ci_low: float
    ci_high: float
    # mean_worst_case, ci_low_worst_case, ci_high_worst_case: the same when a map that failed has the worst value: what
    # rankings use. The interval is guaranteed: it leaves room for failures that no sample shows
    mean_worst_case: float
    ci_low_worst_case: float
    ci_high_worst_case: float
    # (mean - random) / (oracle - random) on the samples where all three are defined; NaN where the oracle is no better
    # than chance, and for a diagnostic
    normalised: float
    # what the two intervals are about: other clusters of samples for these models, or other trainings and clusters;
    # empty where there is no interval
    interval: str
    # the number of times that each reason was given. A value may be defined and have one (a trivial mask)
    reasons: dict[str, int] = field(default_factory=dict)


def summarise(cube: ScoreCube) -> list[SummaryRow]:
    """Summary rows of a cube: of each training seed, then of all, for the cube's subset."""
    rows: list[SummaryRow] = []
    for model in dict.fromkeys(model for model, _, _ in cube.series):
        seeds = cube.seeds_of(model)
        for seed in seeds:
            rows.extend(_rows(cube, model, [seed], str(cube.seeds[seed])))
        if len(seeds) == 1:
            rows += [replace(row, training_seed=ALL_SEEDS) for row in rows if row.model == model]
        elif seeds:
            rows.extend(_rows(cube, model, seeds, ALL_SEEDS))
    return rows


def _rows(cube: ScoreCube, model: str, seeds: list[int], label: str) -> Iterator[SummaryRow]:
    members = cube.members(model)
    value, worst = cube.value[members][:, :, :, seeds], cube.worst[members][:, :, :, seeds]
    scored = cube.scored[members][:, :, :, seeds]
    classes = np.unique(cube.target[cube.models.index(model)][seeds], return_inverse=True)[1].reshape(len(seeds), -1)
    kinds = [
        0 if reason in (EMPTY_MASK, TRIVIAL_FULL_MASK) else 2 if reason in UNUSABLE_SAMPLE else 1
        for reason in cube.reason_names
    ]  # numbers of `WHY_UNDEFINED`
    why = np.array(kinds, dtype=np.int8)[cube.reason[members][:, :, :, seeds]]
    low, high = _intervals(value, cube)
    low_worst, high_worst = _intervals(worst, cube, guaranteed=True)
    has_interval = np.isfinite(low) | np.isfinite(low_worst)
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
            **_counts_and_means(value[index], worst[index], scored[index], why[index], classes, cube.clusters),
            ci_low=float(low[index]),
            ci_high=float(high[index]),
            ci_low_worst_case=float(low_worst[index]),
            ci_high_worst_case=float(high_worst[index]),
            normalised=float(relative[index]),
            interval=_describe_interval(value[index], worst[index]) if has_interval[index] else "",
            reasons=dict(sorted(reasons.items())),
        )


def _counts_and_means(
    value: Float64,
    worst: Float64,
    scored: NDArray[np.bool_],
    why: NDArray[np.int8],
    classes: NDArray[np.int64],
    clusters: NDArray[np.int64],
) -> dict[str, Any]:
    """The fields of a row that depend on its own values alone, arrays (seeds, samples), and the samples' clusters."""
    is_defined = np.isfinite(value)
    defined, undefined = value[is_defined], scored & ~is_defined
    counts = np.bincount(why[undefined], minlength=len(WHY_UNDEFINED)).tolist()
    sums, sizes = np.bincount(classes[is_defined], weights=defined), np.bincount(classes[is_defined])
    return {
        "n": defined.size,
        "n_clusters": len(np.unique(clusters[is_defined.any(axis=0)])),
        "n_samples": int(is_defined.any(axis=0).sum()),
        "n_trainings": int(is_defined.any(axis=1).sum()),
        "n_undefined": int(undefined.sum()),
        **dict(zip(WHY_UNDEFINED, counts, strict=True)),
        "mean": _mean(defined),
        "mean_per_class": _mean(sums[sizes > 0] / sizes[sizes > 0]),
        "standard_deviation": float(defined.std(ddof=1)) if defined.size > 1 else np.nan,
        "median": float(np.median(defined)) if defined.size else np.nan,
        "mean_worst_case": _mean(worst[np.isfinite(worst)]),
    }


def _mean(values: Float64) -> float:
    return float(values.mean()) if values.size else np.nan


def _intervals(values: Float64, cube: ScoreCube, *, guaranteed: bool = False) -> tuple[Float64, Float64]:
    """Intervals of (series, metrics, variants, seeds, samples) over the last two axes."""
    *shape, seeds, samples = values.shape
    columns = values.reshape(-1, seeds, samples).transpose(1, 2, 0)
    limits = np.array([bounds(metric) for metric in cube.metrics]).T[:, np.newaxis, :, np.newaxis]
    low, high = (np.broadcast_to(limit, shape).reshape(-1) for limit in limits)
    ends = mean_intervals(columns, cube.clusters, low, high, guaranteed=guaranteed)
    return ends[0].reshape(shape), ends[1].reshape(shape)


def _describe_interval(values: Float64, worst: Float64) -> str:
    """What the interval of a mean of values (seeds, samples) is about, or where none is defined, that of the worst."""
    trainings = np.isfinite(values if np.isfinite(values).any() else worst).any(axis=1).sum()
    if trainings >= LEAST_TRAININGS:
        return "trainings x clusters"
    return "clusters; of this one model" if trainings == 1 else "clusters; of these models"


def _normalised(cube: ScoreCube, members: list[int], value: Float64) -> Float64:
    names = [parse_call(cube.series[i][1])[0] for i in members]
    if "random" not in names or "oracle" not in names:
        return np.full(value.shape[:3], np.nan)
    directions = np.array([{True: 1.0, False: -1.0, None: np.nan}[higher_is_better(m)] for m in cube.metrics])
    return normalised(value, value[names.index("random")], value[names.index("oracle")], directions[:, None])


def normalised(score: Float64, random: Float64, oracle: Float64, direction: Float64 | float = 1.0) -> Float64:
    """(score - random) / (oracle - random), float64 (...): 0 is a random map, 1 is the mask itself.

    Values are float64 (..., S, N) on the same samples, and those count where all three are defined. `direction` (...)
    is 1 where a high value is good, -1 where a low one is, and NaN for a diagnostic. The score is NaN without values,
    where the oracle is no better than chance, and for a diagnostic.
    """
    score, random, oracle = np.broadcast_arrays(score, random, oracle)
    common = np.isfinite(score) & np.isfinite(random) & np.isfinite(oracle)
    count = np.maximum(common.sum(axis=(-2, -1)), 1)
    s, r, o = (np.where(common, array, 0.0).sum(axis=(-2, -1)) / count for array in (score, random, oracle))
    span = differences(o, r)
    usable = np.where(direction * span > 0, span, np.nan)
    return np.asarray((s - r) / usable, dtype=np.float64)


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Columns of rows as comma-separated text under their names; an undefined number is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row[name]) for name in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        value = "; ".join(f"{reason}: {count}" for reason, count in value.items())
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.6g}"
    return csv_cell(value) if isinstance(value, str) else str(value)
