"""Details of the headline metric: subsets of samples side by side, effect sizes, training seeds, and class means."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from salgen.evaluation.report.panels import Panel
from salgen.evaluation.report.runs import Run
from salgen.evaluation.report.tables import MeansTable, TableLine, means_table
from salgen.evaluation.report.verdicts import Verdict
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.comparisons import Comparison
from salgen.evaluation.statistics.summary import SummaryRow


@dataclass(frozen=True)
class Effect:
    """One method against the best one, and against two floors."""

    line: TableLine
    row: SummaryRow
    # against_best, against_edges, against_floor: the tests, turned so that the method is `a`; None where there is none
    against_best: Comparison | None
    against_edges: Comparison | None
    against_floor: Comparison | None


def effects(outcome: Verdict, table: MeansTable) -> list[Effect]:
    """The tests of each method and floor under the headline metric, the best mean first."""
    rows = [
        Effect(
            line, row, *(_turned(outcome, line.key, rival) for rival in (outcome.best, outcome.edges, outcome.floor))
        )
        for line in table.lines
        if line.key in outcome.compared and (row := line.cells[outcome.metric].row) is not None
    ]
    sign = -1.0 if outcome.run.higher_is_better[outcome.metric] else 1.0
    return sorted(rows, key=lambda effect: sign * effect.row.mean_worst_case)


def _turned(outcome: Verdict, key: Key, rival: Key | None) -> Comparison | None:
    """The test of a method against another, the method first."""
    test = outcome.test(key, rival) if rival is not None and rival != key else None
    return None if test is None else test.with_first(key)


@dataclass(frozen=True)
class SideBySide:
    """One metric for all, the correctly classified, and the certified samples."""

    metric: str
    variant: str
    panels: list[Panel]
    tables: list[MeansTable | None]  # for each panel the metric's table; None where there is no sample

    @property
    def normalised(self) -> bool:
        """True if there are normalised scores."""
        return any(table is not None and table.heads[0].normalised for table in self.tables)

    def line(self, number: int, key: Key) -> TableLine | None:
        """One method's line in one of the tables."""
        table = self.tables[number]
        return next((line for line in table.lines if line.key == key), None) if table is not None else None


def side_by_side(run: Run, model: str, panels: Sequence[Panel]) -> SideBySide | None:
    """The headline metric for each subset of samples; None where there is no such metric, or no subset."""
    if run.headline is None or len(panels) < 2:
        return None
    variant = run.variant_of(run.headline)
    tables = [
        means_table(run, model, variant, [run.headline], panel.samples) if panel.count else None for panel in panels
    ]
    return SideBySide(run.headline, variant, list(panels), tables)


def class_means(table: MeansTable) -> list[str]:
    """The metrics of a table whose mean over classes differs from the mean over samples."""
    return [metric for metric in table.metrics if any(_differs(line.cells[metric].row) for line in table.lines)]


def _differs(row: SummaryRow | None) -> bool:
    return row is not None and row.n > 0 and not np.isclose(row.mean, row.mean_per_class, rtol=0, atol=5e-4)
