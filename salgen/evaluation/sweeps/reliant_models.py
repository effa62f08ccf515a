"""Which methods tell models that rely on a spurious correlation from those that do not? The unit is a trained model.

The dose is how surely an artefact goes with the label. A model is reliant where its certificate says that it uses the
artefact; a method's mass of a model is the mean share of its maps' positive part that lies on the artefact. Both are
taken from the images whose artefact is the label's at every dose: these are the same images, pixel for pixel, for all
models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.report.runs import LoadedRun
from salgen.evaluation.runs.artifacts.certificate_table import FILE as CERTIFICATES
from salgen.evaluation.statistics.discrimination import Discrimination
from salgen.evaluation.statistics.intervals import accuracy_interval
from salgen.evaluation.statistics.mean_intervals import mean_intervals
from salgen.evaluation.statistics.summary import csv_text
from salgen.evaluation.sweeps.dose import Dose
from salgen.evaluation.sweeps.performance import methods_of_all, right, scores
from salgen.types import Float64

MASS = "relevance-mass"
RELIANT = 0.5  # share of the images on which a reliant model uses the artefact
PRECISE = 0.1  # how far an interval of AUROC should reach to both sides


@dataclass(frozen=True)
class Models:
    """D doses with S trainings each."""

    accuracy: Float64  # float64 (D, S): over all images of the split
    # float64 (D, S): the share of the images whose prediction is right, and given up with another class's artefact
    uses: Float64

    @property
    def reliant(self) -> NDArray[np.bool_]:
        """Which models use the artefact on at least half of the images, bool (D, S)."""
        return np.asarray(self.uses >= RELIANT)


@dataclass(frozen=True)
class Masses:
    """A method's maps of these models."""

    mean: Float64  # float64 (D, S): the mean share of the positive part on the artefact; NaN where no map has one
    # bool (D, S): whether the lower end of its 95 % interval over clusters of images is above the artefact's share of
    # the image, which is what a map that knows nothing has
    alarm: NDArray[np.bool_]


@dataclass(frozen=True)
class Detection:
    """How well a method's mass tells reliant models from clean ones: a row of ``detection.csv``."""

    method: str
    role: str
    # reliant, clean: numbers of models
    reliant: int
    clean: int
    # auroc, low, high: with its 95 % interval; NaN where all models are of one kind
    auroc: float
    low: float
    high: float
    # of each dose, which the interval needs for at most 0.1 to both sides; NaN where that is not known
    trainings: float
    # at_zero, false_alarms, alarms_low, alarms_high: number of clean models at strength 0, and the share of them whose
    # mass is above chance, with its exact interval; NaN without such models
    at_zero: int
    false_alarms: float
    alarms_low: float
    alarms_high: float

    @classmethod
    def of(cls, method: str, role: str, doses: Float64, models: Models, masses: Masses) -> Detection:
        """The row of a method."""
        known, (count, seeds) = np.isfinite(masses.mean), masses.mean.shape
        of_seeds = np.tile(np.arange(seeds), (count, 1))
        found = Discrimination.of(masses.mean[known], models.reliant[known], of_seeds[known])
        alarms = masses.alarm[known & ~models.reliant & (doses == 0)[:, np.newaxis]]
        share = float(alarms.mean()) if len(alarms) else np.nan
        ends = accuracy_interval(share, len(alarms)) if len(alarms) else (np.nan, np.nan)
        needed = found.trainings(PRECISE, seeds)
        return cls(
            method,
            role,
            found.positives,
            found.negatives,
            found.auroc,
            *found.interval(),
            np.nan if needed is None else float(needed),
            len(alarms),
            share,
            *ends,
        )


@dataclass(frozen=True)
class ModelRow:
    """A method's mass of one model: a row of ``models.csv``."""

    dose: float
    training_seed: int
    accuracy: float
    uses_artefact: float
    reliant: bool
    method: str
    mass: float
    above_chance: bool


@dataclass(frozen=True)
class Correlation:
    """A finished sweep of a spurious correlation's strength."""

    generator: str
    dose: Dose
    data: list[Path]
    runs: list[LoadedRun]
    images: int  # the number of images, the same ones at all doses, that models and methods are judged by
    chance: float  # the artefact's mean share of these images
    models: Models
    masses: dict[str, Masses]
    detections: list[Detection]

    @property
    def in_order(self) -> list[Detection]:
        """The methods by AUROC, the best first."""
        return sorted(self.detections, key=lambda row: (-np.nan_to_num(row.auroc, nan=-1.0), row.method))

    @property
    def trainings(self) -> int:
        """The number of trainings of each dose."""
        return int(self.models.uses.shape[1])


def detections(name: str, dose: Dose, data: Sequence[Path], runs: Sequence[LoadedRun]) -> Correlation:
    """What finished runs, one for each dose, say of models and methods."""
    datasets = [open_dataset(path, run.split) for path, run in zip(data, runs, strict=True)]
    agreeing = [
        {name for name, agrees in zip(dataset.ids, dataset.column("agrees"), strict=True) if agrees}
        for dataset in datasets
    ]
    shared = sorted(set.intersection(*agreeing, *(set(run.cube.samples) for run in runs)))
    if not shared:
        raise SalgenError(f"{name}: no image shows its label's artefact at every dose: give more images of the split")
    models = Models(
        np.stack([right(run, dataset.ids).mean(axis=1) for run, dataset in zip(runs, datasets, strict=True)]),
        np.stack([_uses(run, shared) for run in runs]),
    )
    (batch,) = datasets[0].batches(len(shared), [datasets[0].ids.index(name) for name in shared])
    chance = float(batch.masks.mean())
    masses = {call: _masses(runs, call, shared, chance) for call in methods_of_all(runs)}
    rows = [Detection.of(call, runs[0].role(call), dose.array, models, of) for call, of in masses.items()]
    return Correlation(name, dose, list(data), list(runs), len(shared), chance, models, masses, rows)


def _uses(run: LoadedRun, images: Sequence[str]) -> Float64:
    """The share of images on which each training uses the artefact, float64 (S,)."""
    if run.record.certificates is None or run.record.certificates.reason:
        why = run.record.certificates.reason if run.record.certificates else "it is not finished"
        raise SalgenError(f"{run.path} has no certificates, so nobody knows which model uses the artefact: {why}")
    columns = ["training_seed", "sample_id", "uses_feature"]
    table = pq.read_table(run.path / CERTIFICATES, columns=columns).to_pandas()
    wide = table.astype({"uses_feature": float}).pivot(
        index="training_seed", columns="sample_id", values="uses_feature"
    )
    return np.asarray(wide[list(images)].mean(axis=1).to_numpy(), dtype=np.float64)


def _masses(runs: Sequence[LoadedRun], call: str, images: Sequence[str], chance: float) -> Masses:
    means, alarms = [], []
    for run in runs:
        chosen = np.searchsorted(run.cube.samples, images)
        values = scores(run, call, MASS)[:, chosen]
        limits = np.zeros(len(values)), np.ones(len(values))
        low, _ = mean_intervals(  # models take the place of metrics; an alarm must not come of failures never seen
            values.T[np.newaxis], run.cube.clusters[chosen], *limits, guaranteed=True
        )
        known = np.isfinite(values)
        means.append(np.where(known.any(axis=1), np.nansum(values, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan))
        alarms.append(low > chance)
    return Masses(np.stack(means), np.stack(alarms))


def detection_text(found: Correlation) -> str:
    """The text of ``detection.csv``, the best method first."""
    return csv_text([field.name for field in fields(Detection)], found.in_order)


def models_text(found: Correlation) -> str:
    """The text of ``models.csv``: a row for each dose, training and method."""
    rows = [
        ModelRow(
            found.dose.values[dose],
            run.cube.seeds[seed],
            float(found.models.accuracy[dose, seed]),
            float(found.models.uses[dose, seed]),
            bool(found.models.reliant[dose, seed]),
            call,
            float(masses.mean[dose, seed]),
            bool(masses.alarm[dose, seed]),
        )
        for dose, run in enumerate(found.runs)
        for seed in range(found.trainings)
        for call, masses in found.masses.items()
    ]
    return csv_text([field.name for field in fields(ModelRow)], rows)
