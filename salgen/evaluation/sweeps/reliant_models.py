"""Which methods tell models that rely on a spurious correlation from those that do not? The unit is a trained model.

A method's mass is its maps' mean share of the positive part on the artefact, over the same images for all models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.report.formatting import share
from salgen.evaluation.report.runs import LoadedRun
from salgen.evaluation.runs.artifacts.certificate_table import CERTIFICATES
from salgen.evaluation.statistics.accuracy import accuracy_interval
from salgen.evaluation.statistics.discrimination import Discrimination
from salgen.evaluation.statistics.mean_intervals import mean_intervals
from salgen.evaluation.statistics.summary import csv_text
from salgen.evaluation.sweeps.dose import Dose
from salgen.evaluation.sweeps.performance import methods_of_all, right, scores
from salgen.evaluation.sweeps.sweep_page import DOSES, doses_figure, panels, write_folder_page
from salgen.files import write_text
from salgen.types import Float64

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MASS = "relevance-mass"
RELIANT = 0.5  # share of the images on which a reliant model uses the artefact
PRECISE = 0.1  # how far an interval of AUROC should reach to both sides
KINDS = (("clean", False, "tab:blue"), ("reliant", True, "tab:red"))


DETECTION = (  # columns of ``detection.csv``
    *("method", "role", "reliant", "clean", "auroc", "low", "high"),
    "trainings",  # how many of each dose the interval needs for at most 0.1 to both sides; NaN where that is not known
    # clean models at strength 0, the share of them whose mass is above chance, and its exact interval
    *("at_zero", "false_alarms", "alarms_low", "alarms_high"),
)


def detection(
    method: str, role: str, doses: Float64, reliant: NDArray[np.bool_], mass: Float64, alarm: NDArray[np.bool_]
) -> SimpleNamespace:
    """How well a method's mass tells reliant models from clean ones: a row of ``detection.csv``.

    Arrays are (D, S), of the models; the mass is NaN where it is not known. What needs models of both kinds, or clean
    ones at strength 0, is NaN without them.
    """
    known, (count, seeds) = np.isfinite(mass), mass.shape
    of_seeds = np.tile(np.arange(seeds), (count, 1))
    found = Discrimination.of(mass[known], reliant[known], of_seeds[known])
    alarms = alarm[known & ~reliant & (doses == 0)[:, np.newaxis]]
    alarmed = float(alarms.mean()) if len(alarms) else np.nan
    ends = accuracy_interval(alarmed, len(alarms)) if len(alarms) else (np.nan, np.nan)
    needed = found.trainings(PRECISE, seeds)
    values = (
        *(method, role, found.positives, found.negatives, found.auroc, *found.interval()),
        np.nan if needed is None else float(needed),
        *(len(alarms), alarmed, *ends),
    )
    return SimpleNamespace(**dict(zip(DETECTION, values, strict=True)))


@dataclass(frozen=True)
class Correlation:
    """A finished sweep of a spurious correlation's strength: D doses with S trainings each."""

    generator: str
    dose: Dose
    data: list[Path]
    runs: list[LoadedRun]
    images: int  # the number of images, the same ones at all doses, that models and methods are judged by
    chance: float  # the artefact's mean share of these images
    accuracy: Float64  # float64 (D, S): over all images of the split
    # float64 (D, S): the share of the images whose prediction is right, and given up with another class's artefact
    uses: Float64
    # each method's mass, float64 (D, S): the mean share of the positive part on the artefact; NaN where no map has one
    masses: dict[str, Float64]
    # bool (D, S): whether the lower end of the mass's 95 % interval over clusters of images is above `chance`, which is
    # what a map that knows nothing has
    alarms: dict[str, NDArray[np.bool_]]

    @property
    def reliant(self) -> NDArray[np.bool_]:
        """Which models use the artefact on at least half of the images, bool (D, S)."""
        return np.asarray(self.uses >= RELIANT)

    @property
    def in_order(self) -> list[SimpleNamespace]:
        """The methods by AUROC, the best first."""
        rows = [
            detection(call, self.runs[0].role(call), self.dose.array, self.reliant, mass, self.alarms[call])
            for call, mass in self.masses.items()
        ]
        return sorted(rows, key=lambda row: (-np.nan_to_num(row.auroc, nan=-1.0), row.method))

    @property
    def verdict(self) -> str:
        """The answer in sentences: which method tells best, and how many surely tell better than chance."""
        if self.reliant.all() or not self.reliant.any():
            kind, doses, learnt = (
                ("reliant", "weaker", "easier") if self.reliant.any() else ("clean", "stronger", "harder")
            )
            return (
                f"All models are {kind}, so there is no AUROC: give {doses} doses, or a source whose own classes are "
                f"{learnt} to learn."
            )
        methods = [row for row in self.in_order if row.role == "method"]
        first = methods[0]
        return (
            f"{first.method} tells reliant models from clean ones best: AUROC {first.auroc:.2f} ({first.low:.2f} to "
            f"{first.high:.2f}). Of {len(methods)} methods, {sum(row.low > 0.5 for row in methods)} surely tell them "
            "better than chance."
        )

    @property
    def trainings(self) -> int:
        """The number of trainings of each dose."""
        return int(self.uses.shape[1])


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
    accuracy = np.stack([right(run, dataset.ids).mean(axis=1) for run, dataset in zip(runs, datasets, strict=True)])
    uses = np.stack([_uses(run, shared) for run in runs])
    (batch,) = datasets[0].batches(len(shared), [datasets[0].index(name) for name in shared])
    chance = float(batch.masks.mean())
    masses, alarms = {}, {}
    for call in methods_of_all(runs):
        of_runs = [_mass_and_lower_end(run, call, shared) for run in runs]
        masses[call], low = (np.stack(part) for part in zip(*of_runs, strict=True))
        alarms[call] = low > chance
    return Correlation(name, dose, list(data), list(runs), len(shared), chance, accuracy, uses, masses, alarms)


def _uses(run: LoadedRun, images: Sequence[str]) -> Float64:
    """The share of images on which each training uses the artefact, float64 (S,)."""
    if why := run.record.certificates.reason:
        raise SalgenError(f"{run.path} has no certificates, so nobody knows which model uses the artefact: {why}")
    columns = ["training_seed", "sample_id", "uses_feature"]
    table = pq.read_table(run.path / CERTIFICATES, columns=columns).to_pandas().astype({"uses_feature": float})
    wide = table.pivot(index="training_seed", columns="sample_id", values="uses_feature")
    return np.asarray(wide[list(images)].mean(axis=1).to_numpy(), dtype=np.float64)


def _mass_and_lower_end(run: LoadedRun, call: str, images: Sequence[str]) -> tuple[Float64, Float64]:
    """Each training's mass, and the lower end of its interval, float64 (S,) each."""
    chosen = np.searchsorted(run.cube.samples, images)
    values = scores(run, call, MASS)[:, chosen]
    limits = np.zeros(len(values)), np.ones(len(values))
    low, _ = mean_intervals(  # models take the place of metrics; an alarm must not come of failures never seen
        values.T[np.newaxis], run.cube.clusters[chosen], *limits, guaranteed=True
    )
    known = np.isfinite(values)
    mean = np.nansum(values, axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.where(known.any(axis=1), mean, np.nan), low


def write_correlation(found: Correlation, folder: Path) -> None:
    """Write ``detection.csv`` and ``models.csv``, ``masses.png``, ``doses.png`` and ``report.html``."""
    write_text(folder / "detection.csv", csv_text(DETECTION, map(vars, found.in_order)))
    rows = [
        {
            "dose": found.dose.values[dose],
            "training_seed": run.cube.seeds[seed],
            "accuracy": float(found.accuracy[dose, seed]),
            "uses_artefact": float(found.uses[dose, seed]),
            "reliant": bool(found.reliant[dose, seed]),
            "method": call,
            "mass": float(mass[dose, seed]),
            "above_chance": bool(found.alarms[call][dose, seed]),
        }
        for dose, run in enumerate(found.runs)
        for seed in range(found.trainings)
        for call, mass in found.masses.items()
    ]
    write_text(folder / "models.csv", csv_text([*rows[0]], rows))
    write_folder_page(
        folder,
        "reliant_models.html.j2",
        {"masses.png": masses_figure(found), DOSES: doses_figure(found.generator, found.dose, found.data, found.runs)},
        found=found,
        share=share,
        precise=PRECISE,
        half=RELIANT,
    )


def masses_figure(found: Correlation) -> Figure:
    """A panel for each method in the order of AUROC: a dot for each model, and what a map that knows nothing has."""
    doses, rows = found.dose.array, found.in_order
    figure, axes = panels(len(rows), sharey=False)
    places = np.broadcast_to(np.arange(len(doses))[:, np.newaxis], found.reliant.shape)
    beside = np.linspace(-0.2, 0.2, found.trainings) if found.trainings > 1 else np.zeros(1)
    for ax, row in zip(axes, rows, strict=False):
        mass = found.masses[row.method]
        for name, kind, colour in KINDS:
            chosen = found.reliant == kind
            ax.plot((places + beside)[chosen], mass[chosen], "o", color=colour, markersize=4, alpha=0.7, label=name)
        ax.axhline(found.chance, color="0.6", linestyle=":", linewidth=0.8)
        ax.set_xticks(range(len(doses)), [f"{dose:g}" for dose in doses])
        ax.set_ylim(0.0, 1.1 * max(found.chance, np.nanmax(mass, initial=0.0)))
        ax.set_title(row.method, fontsize="small")
    axes[0].legend(fontsize="x-small")
    figure.supxlabel(f"{found.dose.parameter} of {found.generator}", fontsize="medium")
    figure.supylabel("mass on the artefact", fontsize="medium")
    return figure
