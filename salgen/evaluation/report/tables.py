"""The means table: methods between their floors and ceilings, with what may and may not be said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, Key, Run
from salgen.evaluation.statistics import mean_ranks
from salgen.evaluation.summary import ALL_SEEDS, SummaryRow

TITLES = {CEILING: "Ceilings: made from the mask itself", METHOD: "Methods", FLOOR: "Floors: know nothing of the task"}


@dataclass(frozen=True)
class Cell:
    """One method under one metric.

    Attributes
    ----------
    row
        Its summary.
    best
        Whether no method under test has a better mean (failed maps counted as worst).
    tied
        Whether its interval overlaps that of the best.
    below_floor
        Whether its mean is no better than the strongest floor's.
    near_floor
        Whether it is above that floor, but the intervals overlap.
    """

    row: SummaryRow
    best: bool = False
    tied: bool = False
    below_floor: bool = False
    near_floor: bool = False

    @property
    def failures_matter(self) -> bool:
        """Whether counting failed maps as worst changes the mean."""
        return self.row.n_invalid_maps > 0 and not np.isclose(self.row.mean, self.row.mean_worst_case, atol=5e-4)


@dataclass(frozen=True)
class Line:
    """One method: a row of the table."""

    key: Key
    label: str
    role: str
    rank: float
    cells: dict[str, Cell]


@dataclass(frozen=True)
class MeansTable:
    """All methods of one run and model under one variant.

    Attributes
    ----------
    groups
        Role to lines by mean rank: ceilings, methods, floors. A role that is absent has no entry.
    """

    run: Run
    model: str
    variant: str
    seed: str
    groups: dict[str, list[Line]]

    @property
    def lines(self) -> list[Line]:
        """All lines from top to bottom."""
        return [line for group in self.groups.values() for line in group]

    def strongest_floor(self, metric: str) -> Line | None:
        """The floor with the best mean."""
        return _best(self.groups.get(FLOOR, []), metric, self.run.higher_is_better[metric])

    def best(self, metric: str) -> Line | None:
        """The method under test with the best mean, failed maps counted as worst."""
        return _best(self.groups.get(METHOD, []), metric, self.run.higher_is_better[metric])


def means_table(run: Run, model: str, variant: str, seed: str = ALL_SEEDS) -> MeansTable:
    """The table of one model of a run under one variant, over all training seeds or for one."""
    groups = {role: _lines(run, model, variant, seed, role) for role in (CEILING, METHOD, FLOOR)}
    table = MeansTable(run, model, variant, seed, {role: lines for role, lines in groups.items() if lines})
    marked = [replace(line, cells=_marked(table, line)) for line in groups[METHOD]]
    return replace(table, groups={**table.groups, METHOD: marked} if marked else table.groups)


def _lines(run: Run, model: str, variant: str, seed: str, role: str) -> list[Line]:
    keys = [key for key in run.keys(model) if run.role(key[0]) == role]
    if not keys:
        return []
    rows = [{metric: run.row(model, key, metric, variant, seed) for metric in run.metrics} for key in keys]
    means = np.array([[row[metric].mean_worst_case for metric in run.metrics] for row in rows])
    ranks = mean_ranks(means, np.array([run.higher_is_better[metric] for metric in run.metrics]))
    lines = [
        Line(key, run.method_label(model, key), role, float(rank), {name: Cell(row) for name, row in cells.items()})
        for key, rank, cells in zip(keys, ranks, rows, strict=True)
    ]
    return sorted(lines, key=lambda line: line.rank)


def _best(lines: Sequence[Line], metric: str, higher: bool) -> Line | None:
    known = [line for line in lines if not np.isnan(line.cells[metric].row.mean_worst_case)]
    return max(known, key=lambda line: _worth(line.cells[metric].row, higher), default=None)


def _worth(row: SummaryRow, higher: bool) -> float:
    return row.mean_worst_case if higher else -row.mean_worst_case


def _marked(table: MeansTable, line: Line) -> dict[str, Cell]:
    return {metric: _mark(table, cell, metric) for metric, cell in line.cells.items()}


def _mark(table: MeansTable, cell: Cell, metric: str) -> Cell:
    best, floor = table.best(metric), table.strongest_floor(metric)
    if best is None or np.isnan(cell.row.mean_worst_case):
        return cell
    top = best.cells[metric].row
    is_best = cell.row.mean_worst_case == top.mean_worst_case
    cell = replace(cell, best=is_best, tied=not is_best and overlap(cell.row, top))
    if floor is None:
        return cell
    higher, base = table.run.higher_is_better[metric], floor.cells[metric].row
    below = _worth(cell.row, higher) <= _worth(base, higher)
    return replace(cell, below_floor=below, near_floor=not below and overlap(cell.row, base))


def overlap(one: SummaryRow, other: SummaryRow) -> bool:
    """Whether two intervals overlap; an interval that is unknown excludes nothing."""
    return not (one.ci_high_worst_case < other.ci_low_worst_case or other.ci_high_worst_case < one.ci_low_worst_case)
