"""Images classified rightly and surely while a faithful map points elsewhere (Li et al. 2020, eq. 19), and others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
import numpy as np
from salgen.errors import SalgenError, readable, unknown_name
from salgen.evaluation.diagnostics.thresholds import FAITHFULNESS, LOCALIZATION, Thresholds
from salgen.evaluation.runs.artifacts.predictions import FILE
from salgen.evaluation.scoring.metric_selection import bounds, create_metric, higher_is_better
from salgen.evaluation.statistics.score_cube import ScoreCube, read_scores
from salgen.types import Float64


@dataclass(frozen=True)
class Suspect:
    """One image."""

    model: str
    training_seed: int
    sample_id: str
    confidence: float  # probability of the class in question: the true one of a Clever Hans candidate
    class_number: int
    # method, localization, faithfulness: the method whose map points elsewhere, and its two scores; "" and NaN for a
    # false positive
    method: str = ""
    localization: float = np.nan
    faithfulness: float = np.nan


def suspicious(
    maps: Iterable[Suspect], thresholds: Thresholds, metrics: tuple[str, str] = (LOCALIZATION, FAITHFULNESS)
) -> list[Suspect]:
    """The set of eq. 19, the largest confidence times faithfulness first; NaN is never in it.

    The confidence is f_c of the class that the map explains. Of a metric of which less is better, values above the
    threshold of localisation are bad, and those below the threshold of faithfulness are good.
    """
    sign, other = (1.0 if higher_is_better(metric) else -1.0 for metric in metrics)
    chosen = [
        one
        for one in maps
        if one.confidence > thresholds.confidence
        and sign * one.localization < sign * thresholds.localization
        and other * one.faithfulness > other * thresholds.faithfulness
    ]
    return sorted(chosen, key=lambda one: -one.confidence * _quality(one.faithfulness, metrics[1]))


def clever_hans(
    run: str | Path,
    method: str,
    thresholds: Thresholds | None = None,
    localization: str = LOCALIZATION,
    faithfulness: str = FAITHFULNESS,
) -> list[Suspect]:
    """The Clever Hans candidates of a run with both metrics, by one method's maps: see :func:`suspicious`."""
    metrics = (localization, faithfulness)
    return suspicious(_checked_maps(run, method, metrics), thresholds or Thresholds(), metrics)


def undefined(
    run: str | Path, method: str, localization: str = LOCALIZATION, faithfulness: str = FAITHFULNESS
) -> dict[str, int]:
    """Number of rightly classified samples without a value, for each of the two metrics."""
    scores = [(one.localization, one.faithfulness) for one in _checked_maps(run, method, (localization, faithfulness))]
    lost = np.isnan(scores).sum(axis=0)
    return {localization: int(lost[0]), faithfulness: int(lost[1])}


def false_positives(run: str | Path, confidence: float = Thresholds.confidence) -> list[Suspect]:
    """Images without class c in which f_c exceeds `confidence`, over all classes, the surest first."""
    suspects: list[Suspect] = []
    before: list[Any] = []
    for row in _predictions(run):
        # an image with several classes is several samples in a row
        image = [row.get(name) for name in ("model", "training_seed", "present", "probabilities")]
        if "present" not in row or image != before:
            for number, value in enumerate(row["probabilities"]):
                if number not in row.get("present", [row["label"]]) and value > confidence:
                    suspects.append(Suspect(row["model"], row["training_seed"], row["sample_id"], value, number))
        before = image
    return sorted(suspects, key=lambda suspect: -suspect.confidence)


def probabilities_in(run: str | Path) -> dict[tuple[str, int, str], list[float]]:
    """(model, training seed, sample) to the probability of each class."""
    return {(row["model"], row["training_seed"], row["sample_id"]): row["probabilities"] for row in _predictions(run)}


def _predictions(run: str | Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    path = Path(run) / FILE
    if not path.is_file():
        raise SalgenError(f"{path} is missing: {run} is not a run folder, or `salgen evaluate` has not finished there")
    with readable(f"{path} is damaged", ": evaluate again into a new folder"):
        return list(pq.read_table(path).to_pylist())


def right_maps(
    cube: ScoreCube,
    probabilities: Mapping[tuple[str, int, str], Sequence[float]],
    method: str,
    metrics: tuple[str, str] = (LOCALIZATION, FAITHFULNESS),
) -> list[Suspect]:
    """A method's maps under each training, of the samples that it classifies rightly, by the two metrics."""
    found = []
    for series, (model, called, _) in enumerate(cube.series):
        number = cube.models.index(model)
        for seed in cube.seeds_of(model) if called == method else ():
            scores = [_first_variant(cube, series, cube.metrics.index(metric), seed).tolist() for metric in metrics]
            for i in np.flatnonzero(cube.correct[number, seed]):
                key, target = (model, cube.seeds[seed], cube.samples[i]), int(cube.target[number, seed, i])
                found.append(Suspect(*key, probabilities[key][target], target, method, *(own[i] for own in scores)))
    return found


def _checked_maps(run: str | Path, method: str, metrics: tuple[str, str]) -> list[Suspect]:
    cube = read_scores(Path(run))
    for call, need, example in zip(metrics, ("mask", "model"), (LOCALIZATION, FAITHFULNESS), strict=True):
        if call not in cube.metrics:
            raise unknown_name(f"metric of {run}", call, cube.metrics)
        metric = create_metric(call)
        if need not in metric.needs or metric.higher_is_better is None:
            raise SalgenError(f"{call} does not use the {need}, or has no direction: give a metric such as {example}")
    if method not in (methods := {called for _, called, _ in cube.series}):
        raise unknown_name(f"method of {run}", method, methods)
    maps = right_maps(cube, probabilities_in(run), method, metrics)
    scores = np.array([(one.localization, one.faithfulness) for one in maps]).reshape(-1, 2)
    for call, values in zip(metrics, scores.T, strict=True):
        if values.size and np.isnan(values).all():
            raise SalgenError(f"{call} has no value in this run for any map by {method} of a rightly classified image")
    return maps


def _quality(value: float, call: str) -> float:
    """A metric's value, turned over within its bounds where less is better."""
    if higher_is_better(call):
        return value
    low, high = bounds(call)
    return (low + high if np.isfinite(low + high) else 0.0) - value


def _first_variant(cube: ScoreCube, series: int, metric: int, seed: int) -> Float64:
    """One metric's values (samples,) in the run's headline variant, or in the one that it has."""
    variants = np.flatnonzero(cube.scored[series, metric, :, seed].any(axis=1))
    if not len(variants):
        return np.full(len(cube.samples), np.nan)
    return np.asarray(cube.value[series, metric, int(variants[0]), seed])
