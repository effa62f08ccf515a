"""Right for the wrong reason, and wrong for the same one: samples that a person should look at.

A Clever Hans candidate is an image that the model classifies rightly and surely while a faithful map
points elsewhere than at the object (Li et al. 2020, eq. 19). A false positive is an image without a
class in which the model sees that class surely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.predictions import FILE
from salgen.evaluation.score_cube import ScoreCube, read_scores
from salgen.parameters import param
from salgen.types import Float64

LOCALIZATION = "pointing-game"
FAITHFULNESS = "insertion-auc:variant=li2020"


@dataclass(frozen=True)
class Thresholds:
    """Where suspicion begins; the paper states no values.

    The set is {f_c > confidence} and {localization < localization} and {faithfulness > faithfulness}.
    """

    name: ClassVar[str] = "find"

    confidence: float = param(0.9, "smallest probability of the class, exclusive", low=0.0, high=1.0)
    localization: float = param(0.5, "largest localisation score, exclusive", low=0.0)
    faithfulness: float = param(0.5, "smallest faithfulness score, exclusive")


@dataclass(frozen=True)
class Suspect:
    """One image.

    Attributes
    ----------
    confidence
        Probability of the class in question: the true one of a Clever Hans candidate.
    method, localization, faithfulness
        Whose map points elsewhere, and its two scores; "" and NaN for a false positive.
    """

    model: str
    training_seed: int
    sample_id: str
    confidence: float
    class_number: int
    method: str = ""
    localization: float = np.nan
    faithfulness: float = np.nan


def suspicious(confidence: Float64, localization: Float64, faithfulness: Float64, thresholds: Thresholds) -> list[int]:
    """Indices of the set of eq. 19, the largest confidence times faithfulness first; NaN is never in it.

    Parameters
    ----------
    confidence, localization, faithfulness
        float64 (N,): f_c of the class that the map explains, and the map's two scores.

    Examples
    --------
    >>> suspicious(np.array([0.95, 0.99, 0.5]), np.zeros(3), np.array([0.6, 0.7, 0.9]), Thresholds())
    [1, 0]
    """
    found = (
        (confidence > thresholds.confidence)
        & (localization < thresholds.localization)
        & (faithfulness > thresholds.faithfulness)
    )
    chosen = np.flatnonzero(found)
    return [int(i) for i in chosen[np.argsort(-(confidence * faithfulness)[chosen], kind="stable")]]


def clever_hans(
    run: str | Path,
    method: str,
    thresholds: Thresholds | None = None,
    localization: str = LOCALIZATION,
    faithfulness: str = FAITHFULNESS,
) -> list[Suspect]:
    """The Clever Hans candidates of a run by one method's maps, see :func:`suspicious`.

    Parameters
    ----------
    run
        A run folder whose metrics include `localization` and `faithfulness`.
    method
        A method's call, as the run has it.

    Raises
    ------
    SalgenError
        If the run has no such method or metric, or is no run.
    """
    cube = read_scores(Path(run))
    places = [_known("metric", name, cube.metrics, run) for name in (localization, faithfulness)]
    _known("method", method, [called for _, called, _ in cube.series], run)
    sure, found = _probabilities(run), []
    for series, (model, called, _) in enumerate(cube.series):
        for seed in cube.seeds_of(model) if called == method else ():
            number = cube.models.index(model)
            right = np.flatnonzero(cube.correct[number, seed])
            keys = [(model, cube.seeds[seed], cube.samples[i]) for i in right]
            classes = cube.target[number, seed][right]
            confidence = np.array([sure[key][c] for key, c in zip(keys, classes, strict=True)])
            where, how = (_first_variant(cube, series, place, seed)[right] for place in places)
            found += [
                Suspect(*keys[i], float(confidence[i]), int(classes[i]), method, float(where[i]), float(how[i]))
                for i in suspicious(confidence, where, how, thresholds or Thresholds())
            ]
    return sorted(found, key=lambda suspect: -suspect.confidence * suspect.faithfulness)


def false_positives(run: str | Path, confidence: float = Thresholds.confidence) -> list[Suspect]:
    """Images without class c in which f_c exceeds `confidence`, over all classes, the surest first.

    Raises
    ------
    SalgenError
        If `run` is no run.
    """
    found = []
    for row in _predictions(run).to_pylist():
        for number, value in enumerate(row["probabilities"]):
            if number != row["label"] and value > confidence:
                found.append(Suspect(row["model"], row["training_seed"], row["sample_id"], value, number))
    return sorted(found, key=lambda suspect: -suspect.confidence)


def _probabilities(run: str | Path) -> dict[tuple[str, int, str], list[float]]:
    """(model, training seed, sample) to the probability of each class."""
    rows = _predictions(run).to_pylist()
    return {(row["model"], row["training_seed"], row["sample_id"]): row["probabilities"] for row in rows}


def _predictions(run: str | Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(run) / FILE
    if not path.is_file():
        raise SalgenError(f"{path} is missing: {run} is not a run folder, or `salgen evaluate` has not finished there")
    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise SalgenError(f"{path} is damaged ({error}): evaluate again into a new folder") from None


def _known(what: str, name: str, there: Sequence[str], run: str | Path) -> int:
    if name not in there:
        raise SalgenError(f"{run} has no {what} {name!r}; it has {', '.join(sorted(set(there)))}")
    return there.index(name)


def _first_variant(cube: ScoreCube, series: int, metric: int, seed: int) -> Float64:
    """One metric's values (samples,) in the run's headline variant, or in the one that it has."""
    variants = np.flatnonzero(cube.scored[series, metric, :, seed].any(axis=1))
    if not len(variants):
        return np.full(len(cube.samples), np.nan)
    variant = int(variants[0])
    return np.asarray(cube.value[series, metric, variant, seed])
