"""The grid of a study: the mean of one metric for every data set, model and method, and which of them stand out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.report.cell_scores import CellEntry, Member, cell_entry, model_in
from salgen.evaluation.report.formatting import DIGITS
from salgen.evaluation.report.runs import Model, Run, read_runs
from salgen.evaluation.report.study import StudyCell
from salgen.evaluation.runs.artifacts.run_record import content_faults
from salgen.evaluation.statistics.jackknife import Estimate
from salgen.evaluation.statistics.summary import csv_text

FLOOR_CALL, CEILING_CALL = "random", "oracle"
CONTROLS = (FLOOR_CALL, CEILING_CALL)
MARKED = 3  # the best and the next two

GRID = "grid.csv"
COLUMNS = ("dataset", "model", "method", "n", "mean")


@dataclass(frozen=True)
class GridRow:
    """One cell of a study under all methods."""

    cell: StudyCell
    members: list[Member]
    samples: int  # number of scored samples
    # the share of images of the first run's split that are classified correctly, over all training seeds
    accuracy: float
    # of each method, then of the controls
    entries: dict[str, CellEntry]
    places: dict[str, int]  # method to 1, 2 or 3 where it is the best or among the next two; ties share a place

    @cached_property
    def trained(self) -> list[Model]:
        """The trained models of the runs on the first run's split; another split may be the training data."""
        return _trained(self.members)

    @property
    def splits(self) -> list[str]:
        """The splits that are pooled."""
        return list(dict.fromkeys(run.split for run, _ in self.members))

    @property
    def seeds(self) -> int:
        """The number of training seeds."""
        return len({trained.seed for trained in self.trained})

    @property
    def fault(self) -> str:
        """The accuracy of the first model that did not learn its task, in words; empty if all learnt it."""
        return next((trained.fault for trained in self.trained if trained.unlearnt), "")

    @property
    def too_few(self) -> bool:
        """True if there are too few images to tell whether a model learnt its task."""
        return any(trained.too_few for trained in self.trained)


@dataclass(frozen=True)
class VariantGrid:
    """All cells of a study."""

    metric: str
    methods: tuple[str, ...]
    rows: list[GridRow]

    @cached_property
    def blocks(self) -> dict[str, list[GridRow]]:
        """Data set to its rows."""
        blocks: dict[str, list[GridRow]] = {}
        for row in self.rows:
            blocks.setdefault(row.cell.dataset, []).append(row)
        return blocks


def read_grid(
    cells: Sequence[StudyCell], methods: Sequence[str], metric: str, loaded: Sequence[Run] = ()
) -> VariantGrid:
    """The grid of cells, whose runs are read unless they are among those already `loaded`."""
    runs = {run.path.resolve(): run for run in loaded}
    missing = {Path(path).resolve(): path for cell in cells for path in cell.runs if Path(path).resolve() not in runs}
    runs |= {run.path.resolve(): run for run in read_runs(list(missing.values()))} if missing else {}
    rows = [_row(cell, [runs[Path(path).resolve()] for path in cell.runs], methods, metric) for cell in cells]
    return VariantGrid(metric, tuple(methods), rows)


def grid_estimates(
    cells: Sequence[StudyCell], methods: Sequence[str], metric: str
) -> dict[tuple[str, str], dict[str, Estimate]]:
    """The means that a report's grid shows: (data set, model) to method to mean, NaN where it is undefined.

    Each is over all scored samples of all runs and training seeds of the cell, in the headline variant; a map
    that failed counts as the worst, so that no method gains by failing.
    """
    with content_faults([path for cell in cells for path in cell.runs]):
        grid = read_grid(cells, methods, metric)
    return {
        (row.cell.dataset, row.cell.model): {method: row.entries[method].estimate for method in methods}
        for row in grid.rows
    }


def grid_csv(grid: VariantGrid) -> str:
    """The means of a grid's methods and controls as comma-separated text."""
    lines = [
        SimpleNamespace(
            dataset=row.cell.dataset, model=row.cell.model, method=method, n=entry.values.size, mean=entry.mean
        )
        for row in grid.rows
        for method, entry in row.entries.items()
    ]
    return csv_text(COLUMNS, lines)


def _row(cell: StudyCell, runs: Sequence[Run], methods: Sequence[str], metric: str) -> GridRow:
    for run in runs:
        if metric not in run.metrics:
            raise SalgenError(f"{run.path} has no scores of {metric}: evaluate it with that metric")
    members = [(run, model_in(run, cell.model)) for run in runs]
    calls = dict.fromkeys((*methods, *CONTROLS))
    entries = {call: cell_entry(members, call, metric) for call in calls}
    means = {method: entries[method].mean for method in methods}
    masks = [run.cube.samples_of(model, metric, run.variant_of(metric)) for run, model in members]
    return GridRow(
        cell=cell,
        members=members,
        samples=int(sum(scored.any(axis=0).sum() for scored in masks)),
        accuracy=accuracy_of(_trained(members)),
        entries=entries,
        places=places(means, runs[0].higher_is_better[metric]),
    )


def _trained(members: Sequence[Member]) -> list[Model]:
    split = members[0][0].split
    return [trained for run, model in members if run.split == split for trained in run.trained(model)]


def accuracy_of(trained: Sequence[Model]) -> float:
    """The share of images that trainings classify correctly; NaN where there are none."""
    count = sum(model.count for model in trained)
    return sum(model.accuracy * model.count for model in trained) / count if count else float("nan")


def places(means: dict[str, float], higher_is_better: bool | None) -> dict[str, int]:
    """Method to its place, 1 to 3, by means rounded as printed: one more than the number of better methods.

    Empty for a diagnostic, or for a single method.
    """
    sign = 1 if higher_is_better else -1
    rounded = {method: sign * round(mean, DIGITS) for method, mean in means.items() if np.isfinite(mean)}
    if higher_is_better is None or len(rounded) < 2:
        return {}
    ranks = {method: 1 + sum(better > mean for better in rounded.values()) for method, mean in rounded.items()}
    return {method: rank for method, rank in ranks.items() if rank <= MARKED}
