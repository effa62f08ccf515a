"""Tables of means: methods between their floors and ceilings, with the results of the tests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
import numpy as np
from salgen.evaluation.metrics.inputs.metric import FAMILIES
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, LoadedRun
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.scoring.metric_selection import by_reading, create_metric
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.comparisons import Comparison
from salgen.evaluation.statistics.ranks import mean_ranks
from salgen.evaluation.statistics.score_cube import ALL, CERTIFIED, CORRECT
from salgen.evaluation.statistics.summary import SummaryRow

TITLES = {
    CEILING: "Ceilings: maps made from the ground-truth mask",
    METHOD: "Methods",
    FLOOR: "Floors: maps that know nothing of the task",
}
ONE_TABLE = 8  # at most so many metrics share one table, whatever their families
FAMILY_TITLES = {
    "ranking": "Ranking: do the mask's pixels have the largest values?",
    "localization": "Localisation: does the map mark the object?",
    "faithfulness": "Faithfulness: does the prediction depend on the pixels that the map marks?",
    "contrast": "Contrast: does the map change when the cause does?",
    "sensitivity": "Sensitivity: is the map stable, and does it tell classes apart?",
    "sanity": "Sanity checks: does the map depend on the model's weights and labels?",
    "diagnostic": "Diagnostics: no ranking",
}
SUBSET_NAMES = {ALL: "all", CORRECT: "correctly classified", CERTIFIED: "certified"}
BOUNDED_BY_THE_MASK = ("ranking", "localization")  # families of metrics that ask for agreement with the mask
NO_CEILING = "no ceiling"


@dataclass(frozen=True)
class Cell:
    """One method under one metric."""

    row: SummaryRow | None  # its summary; None if it was not scored
    absent: str = "not scored"  # why there is no row
    best: bool = False  # whether its mean as printed is the best of several methods, failed maps counted as worst
    tied: bool = False  # whether it is not the best but does not differ significantly from a best one
    below_floor: bool = False  # whether it is not significantly better than the strongest floor
    undefined: int = 0  # number of undefined scores beyond those that the column's head gives for every method

    @property
    def failures_matter(self) -> bool:
        """True if counting failed maps as worst changes the mean."""
        row = self.row
        if row is None or row.n_invalid_maps == 0 or np.isnan(row.mean_worst_case):
            return False
        return not np.isclose(row.mean, row.mean_worst_case, atol=5e-4)


class TableLine(NamedTuple):
    """One method: a row of the table."""

    key: Key
    label: str
    role: str
    rank: float
    cells: dict[str, Cell]


class Head(NamedTuple):
    """The head of a column."""

    metric: str
    variant: str  # the variant in which the metric is scored, if it is not the table's
    direction: str  # `"less is better"`, `"diagnostic"` or `""`
    undefined: int  # number of undefined scores that every method has at least
    normalised: bool  # whether there are normalised scores, which end at the ceiling


@dataclass(frozen=True)
class MeansTable:
    """All methods of one run and model under some metrics."""

    run: LoadedRun
    model: str
    variant: str
    metrics: list[str]
    groups: dict[str, list[TableLine]]  # role to lines by mean rank: ceilings, methods, floors; none for an absent role
    heads: list[Head]

    @property
    def lines(self) -> list[TableLine]:
        """All lines from top to bottom."""
        return [line for group in self.groups.values() for line in group]

    def line(self, key: Key) -> TableLine | None:
        """The line of one method."""
        return next((line for line in self.lines if line.key == key), None)

    @cached_property
    def ranks_methods(self) -> bool:
        """True if any of its metrics ranks methods."""
        return any(self.run.higher_is_better[metric] is not None for metric in self.metrics)

    @property
    def differing_class_means(self) -> list[str]:
        """The metrics whose mean over classes differs from the mean over samples."""
        differing = []
        for metric in self.metrics:
            rows = [row for line in self.lines if (row := line.cells[metric].row) is not None and row.n > 0]
            if not all(np.isclose(row.mean, row.mean_per_class, rtol=0, atol=5e-4) for row in rows):
                differing.append(metric)
        return differing


def means_table(
    run: LoadedRun, model: str, variant: str, metrics: Sequence[str] | None = None, samples: str = ALL
) -> MeansTable:
    """The table of one model of a run, over all training seeds; by default of the metrics scored in the variant.

    A metric without scores in the variant is shown in one that has some.
    """
    chosen = [name for name in run.metrics if run.has(name, variant)] if metrics is None else list(metrics)
    own = {name: variant if run.has(name, variant) else None for name in chosen}
    verdicts = {name: verdict(run, model, name, samples, own[name]) for name in chosen}
    heads = [_head(outcome, variant) for outcome in verdicts.values()]
    groups = {role: _lines(verdicts, heads, run, model, role) for role in (CEILING, METHOD, FLOOR)}
    present = {role: lines for role, lines in groups.items() if lines}
    return MeansTable(run, model, variant, chosen, present, heads)


def _head(outcome: Verdict, variant: str) -> Head:
    rows = [row for key in outcome.run.keys(outcome.model) if (row := outcome.row(key)) is not None]
    directions = {None: "diagnostic", False: "less is better", True: ""}
    return Head(
        metric=outcome.metric,
        variant=outcome.variant if outcome.variant != variant else "",
        direction=directions[outcome.run.higher_is_better[outcome.metric]],
        undefined=min(row.n_undefined for row in rows) if len(rows) > 1 else 0,
        normalised=has_ceiling(outcome.metric) and any(np.isfinite(row.normalised) for row in rows),
    )


def has_ceiling(metric: str) -> bool:
    """True if a metric asks for the mask itself; one that asks the model has no ceiling, as the mask ignores it."""
    return create_metric(metric).family in BOUNDED_BY_THE_MASK


def _lines(
    verdicts: dict[str, Verdict], heads: Sequence[Head], run: LoadedRun, model: str, role: str
) -> list[TableLine]:
    """The lines of one role by their mean rank over the metrics that rank; none where no metric has a ceiling."""
    if role == CEILING and not any(map(has_ceiling, verdicts)):
        return []
    keys = [key for key in run.keys(model) if run.role(key[0]) == role]
    cells = [{head.metric: _cell(verdicts[head.metric], key, head.undefined) for head in heads} for key in keys]
    ranking = [name for name in verdicts if run.higher_is_better[name] is not None]
    ranks = np.full(len(keys), np.nan)
    if keys and ranking:
        rows = [[of_key[name].row for name in ranking] for of_key in cells]
        means = np.array([[np.nan if row is None else row.mean_worst_case for row in of_key] for of_key in rows])
        ranks = mean_ranks(means, np.array([bool(run.higher_is_better[name]) for name in ranking]))
    lines = [
        TableLine(key, run.method_label(model, key), role, float(rank), row)
        for key, rank, row in zip(keys, ranks, cells, strict=True)
    ]
    return sorted(lines, key=lambda line: line.rank)


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


class Effect(NamedTuple):
    """One method against the best one, and against two floors; None where there is no such test."""

    line: TableLine
    row: SummaryRow
    against_best: Comparison | None
    against_edges: Comparison | None
    against_floor: Comparison | None


def effects(outcome: Verdict, table: MeansTable) -> list[Effect]:
    """The tests of each method and floor under the headline metric, turned towards it, the best mean first."""
    found = []
    for line in table.lines:
        row = line.cells[outcome.metric].row
        if line.key in outcome.compared and row is not None:
            rivals = (outcome.best, outcome.edges, outcome.floor)
            tests = (outcome.test(line.key, rival) if rival and rival != line.key else None for rival in rivals)
            found.append(Effect(line, row, *(test.with_first(line.key) if test else None for test in tests)))
    sign = -1.0 if outcome.run.higher_is_better[outcome.metric] else 1.0
    return sorted(found, key=lambda effect: sign * effect.row.mean_worst_case)


class Block(NamedTuple):
    """A table of metrics that belong together."""

    title: str
    reading: str | None  # the code or paper whose deviating reading they follow; None for the canonical ones
    table: MeansTable


@dataclass(frozen=True)
class Panel:
    """The tables of one subset of samples."""

    samples: str
    name: str
    count: int  # number of (sample, training seed) pairs in the subset
    total: int  # number of them in all
    powerless: str  # what is too few for any test of the headline metric to be significant; empty if nothing is
    headline: MeansTable | None  # the headline metric's; None where there is no such metric or sample
    views: dict[str, list[Block]]  # variant to its tables, the headline variant first

    @property
    def same_as_all(self) -> bool:
        """True if the subset leaves no sample out."""
        return self.samples != ALL and self.count == self.total


def panels(run: LoadedRun, model: str) -> list[Panel]:
    """The panels of a model, without tables that would be empty or repeat those of all samples."""
    total, found = sample_count(run, model, ALL), []
    for samples in run.cube.subsets:
        count = sample_count(run, model, samples)
        own = count > 0 and (samples == ALL or count < total)
        powerless, headline = "", None
        if run.headline is not None and count:
            powerless = verdict(run, model, run.headline, samples).powerless if own else ""
            headline = means_table(run, model, run.variant_of(run.headline), [run.headline], samples)
        views = {variant: _blocks(run, model, variant, samples) for variant in run.variants} if own else {}
        views = {variant: blocks for variant, blocks in views.items() if blocks}
        found.append(Panel(samples, SUBSET_NAMES[samples], count, total, powerless, headline, views))
    return found


def sample_count(run: LoadedRun, model: str, samples: str) -> int:
    """The number of the headline metric's samples in a subset, each counted once for each training seed."""
    cube, counted = run.cube, run.samples_counted(model)
    kept = {CORRECT: cube.correct, CERTIFIED: cube.certified}.get(samples)
    return int(np.sum(counted if kept is None else counted & kept[cube.models.index(model)]))


def _blocks(run: LoadedRun, model: str, variant: str, samples: str) -> list[Block]:
    """The tables of a variant: all metrics in the headline variant, elsewhere those scored in both."""
    headline = run.variants[0]
    metrics = [m for m in run.metrics if variant == headline or (run.has(m, variant) and run.has(m, headline))]
    return [
        Block(title, reading, means_table(run, model, variant, group, samples))
        for title, reading, group in metric_blocks(metrics)
    ]


def metric_blocks(metrics: Sequence[str]) -> Iterator[tuple[str, str | None, list[str]]]:
    """Title, reading and metrics of each table: canonical metrics by family, or all together where they are few."""
    for reading, group in by_reading(metrics).items():
        if reading is not None:
            yield f"As in the code or text of {reading}", reading, group
        elif len(group) <= ONE_TABLE:
            yield from [("", None, group)] if group else []
        else:
            for family in FAMILIES:
                if members := [metric for metric in group if create_metric(metric).family == family]:
                    yield FAMILY_TITLES[family], None, members
