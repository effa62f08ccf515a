"""The means table: methods between their floors and ceilings, with the results of the tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, Run
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.ranks import mean_ranks
from salgen.evaluation.statistics.score_cube import ALL
from salgen.evaluation.statistics.summary import SummaryRow

TITLES = {
    CEILING: "Ceilings: maps made from the ground-truth mask",
    METHOD: "Methods",
    FLOOR: "Floors: maps that know nothing of the task",
}
BOUNDED_BY_THE_MASK = ("ranking", "localization")  # families of metrics that ask for agreement with the mask
NO_CEILING = "no ceiling"


@dataclass(frozen=True)
class Cell:
    """One method under one metric."""

    row: SummaryRow | None  # its summary; None if it was not scored
    absent: str = "not scored"  # the reason why there is no row, in words
    # true if no method under test has a better mean as printed (failed maps counted as worst); False if there is just
    # one
    best: bool = False
    tied: bool = False  # true if it is not the best but does not differ significantly from a best one
    below_floor: bool = False  # true if it is not significantly better than the strongest floor
    undefined: int = 0  # number of undefined scores beyond those that the column's head gives for every method

    @property
    def failures_matter(self) -> bool:
        """True if counting failed maps as worst changes the mean."""
        row = self.row
        if row is None or row.n_invalid_maps == 0 or np.isnan(row.mean_worst_case):
            return False
        return not np.isclose(row.mean, row.mean_worst_case, atol=5e-4)


@dataclass(frozen=True)
class TableLine:
    """One method: a row of the table."""

    key: Key
    label: str
    role: str
    rank: float
    cells: dict[str, Cell]


@dataclass(frozen=True)
class Head:
    """The head of a column."""

    metric: str
    variant: str  # the variant in which the metric is scored, if it is not the table's
    direction: str  # `"less is better"`, `"diagnostic"` or `""`
    undefined: int  # number of undefined scores that every method has at least
    normalised: bool  # true if there are normalised scores, which end at the ceiling


@dataclass(frozen=True)
class MeansTable:
    """All methods of one run and model under some metrics."""

    run: Run
    model: str
    variant: str
    samples: str
    metrics: list[str]
    # role to lines by mean rank: ceilings, methods, floors. A role that is absent has no entry
    groups: dict[str, list[TableLine]]
    heads: list[Head]

    @property
    def lines(self) -> list[TableLine]:
        """All lines from top to bottom."""
        return [line for group in self.groups.values() for line in group]

    @cached_property
    def ranks_methods(self) -> bool:
        """True if any of its metrics ranks methods."""
        return any(self.run.higher_is_better[metric] is not None for metric in self.metrics)


def means_table(
    run: Run, model: str, variant: str, metrics: Sequence[str] | None = None, samples: str = ALL
) -> MeansTable:
    """The table of one model of a run, over all training seeds.

    Parameters
    ----------
    variant
        The variant of the scores; a metric without scores in it is shown in one that has some.
    metrics
        By default all that are scored in the variant.
    samples
        The subset: ``"all"``, ``"correct"`` or ``"certified"`` samples.
    """
    chosen = [name for name in run.metrics if run.has(name, variant)] if metrics is None else list(metrics)
    verdicts = {
        name: verdict(run, model, name, samples, variant if run.has(name, variant) else run.variant_of(name))
        for name in chosen
    }
    shared = {name: _shared_undefined(outcome) for name, outcome in verdicts.items()}
    groups = {role: _lines(verdicts, shared, run, model, role) for role in (CEILING, METHOD, FLOOR)}
    heads = [_head(outcome, variant, shared[name]) for name, outcome in verdicts.items()]
    present = {role: lines for role, lines in groups.items() if lines}
    return MeansTable(run, model, variant, samples, chosen, present, heads)


def _head(outcome: Verdict, variant: str, shared: int) -> Head:
    higher = outcome.run.higher_is_better[outcome.metric]
    rows = (outcome.row(key) for key in outcome.run.keys(outcome.model))
    return Head(
        metric=outcome.metric,
        variant=outcome.variant if outcome.variant != variant else "",
        direction={None: "diagnostic", False: "less is better", True: ""}[higher],
        undefined=shared,
        normalised=has_ceiling(outcome.metric) and any(row is not None and np.isfinite(row.normalised) for row in rows),
    )


def has_ceiling(metric: str) -> bool:
    """True if the ground-truth mask itself, as a map, is what a metric asks for, so that its score is a ceiling.

    A map of the mask does not change with the model, so it is no ceiling of metrics of faithfulness, contrast,
    sensitivity or sanity.
    """
    return create_metric(metric).family in BOUNDED_BY_THE_MASK


def _shared_undefined(outcome: Verdict) -> int:
    """The number of undefined scores that every method has at least; 0 where there is one method."""
    counts = [row.n_undefined for key in outcome.run.keys(outcome.model) if (row := outcome.row(key)) is not None]
    return min(counts) if len(counts) > 1 else 0


def _lines(verdicts: dict[str, Verdict], shared: dict[str, int], run: Run, model: str, role: str) -> list[TableLine]:
    """The lines of one role by their mean rank over the metrics that rank; none where no metric has a ceiling."""
    if role == CEILING and not any(has_ceiling(name) for name in verdicts):
        return []
    keys = [key for key in run.keys(model) if run.role(key[0]) == role]
    cells = [{name: _cell(outcome, key, shared[name]) for name, outcome in verdicts.items()} for key in keys]
    ranking = [name for name in verdicts if run.higher_is_better[name] is not None]
    if not keys or not ranking:
        ranks = np.full(len(keys), np.nan)
    else:
        means = np.array([[_worst_case(row[name]) for name in ranking] for row in cells])
        ranks = mean_ranks(means, np.array([bool(run.higher_is_better[name]) for name in ranking]))
    lines = [
        TableLine(key, run.method_label(model, key), role, float(rank), row)
        for key, rank, row in zip(keys, ranks, cells, strict=True)
    ]
    return sorted(lines, key=lambda line: line.rank)


def _worst_case(cell: Cell) -> float:
    return cell.row.mean_worst_case if cell.row is not None else float("nan")


def _cell(outcome: Verdict, key: Key, shared: int) -> Cell:
    row = outcome.row(key)
    if outcome.run.role(key[0]) == CEILING and not has_ceiling(outcome.metric):
        return Cell(None, absent=NO_CEILING)
    if row is None:
        return Cell(None)
    return Cell(
        row,
        best=key in outcome.winners and len(outcome.run.under_test(outcome.model)) > 1,
        tied=key in outcome.tied and not outcome.powerless,
        below_floor=key in outcome.below_floor and not outcome.powerless,
        undefined=row.n_undefined - shared,
    )
