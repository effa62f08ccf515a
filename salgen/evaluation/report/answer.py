"""The short answer: what the headline metric says of one model, in the parts of a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from salgen.evaluation.report.runs import METHOD, Model, Run
from salgen.evaluation.report.tables import Cell, Line, MeansTable, means_table
from salgen.evaluation.statistics import CROSSED_SEEDS


@dataclass(frozen=True)
class Answer:
    """What can be said of one run and model under the headline metric and variant.

    Attributes
    ----------
    best
        The method with the best mean, or None if nothing was defined.
    tied
        Methods whose interval overlaps the best one's.
    floor
        The strongest floor.
    below_floor, near_floor
        Methods that are no better than it, and those above it whose interval overlaps its.
    elsewhere
        The best method of each other metric.
    trainings
        How many training seeds stand behind it, and whether the intervals cover them.
    """

    run: Run
    model: str
    metric: str
    table: MeansTable
    best: Line | None
    tied: list[Line]
    floor: Line | None
    below_floor: list[Line]
    near_floor: list[Line]
    elsewhere: dict[str, Line]
    trainings: int
    crossed: bool
    failed_trainings: list[Model]

    def cell(self, line: Line) -> Cell:
        """A line's cell under the headline metric."""
        return line.cells[self.metric]


def answers(run: Run) -> list[Answer]:
    """An answer for each model of a run."""
    return [_answer(run, model) for model in run.model_names]


def _answer(run: Run, model: str) -> Answer:
    metric, table = run.metrics[0], means_table(run, model, run.variants[0])
    methods = _by_mean(table.groups.get(METHOD, []), metric, run.higher_is_better[metric])
    others = {name: table.best(name) for name in run.metrics[1:]}
    trainings = len(run.cube.seeds_of(model))
    return Answer(
        run=run,
        model=model,
        metric=metric,
        table=table,
        best=table.best(metric),
        tied=[line for line in methods if line.cells[metric].tied],
        floor=table.strongest_floor(metric),
        below_floor=[line for line in methods if line.cells[metric].below_floor],
        near_floor=[line for line in methods if line.cells[metric].near_floor],
        elsewhere={name: line for name, line in others.items() if line is not None},
        trainings=trainings,
        crossed=trainings >= CROSSED_SEEDS,
        failed_trainings=[trained for trained in run.trained(model) if trained.near_chance],
    )


def _by_mean(lines: list[Line], metric: str, higher: bool) -> list[Line]:
    return sorted(lines, key=lambda line: line.cells[metric].row.mean_worst_case, reverse=higher)
