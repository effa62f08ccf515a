"""The first page: methods x data sets, and one table of all rows, sorted and filtered by a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
import numpy as np
from salgen.evaluation.leaderboard.rows import DIRECTIONS, BoardRow
from salgen.evaluation.report.formatting import DIGITS, STYLE, page_text
from salgen.evaluation.report.page import TABLES
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD
from salgen.evaluation.report.tables import TITLES
from salgen.evaluation.statistics.ranks import mean_ranks

MARK = '<meta name="generator" content="salgen leaderboard">'
RANKING = (DIRECTIONS[True], DIRECTIONS[False])
FILTERS = {"dataset": "Data set", "model": "Model", "method": "Method", "metric": "Metric"}


def index_html(rows: Sequence[BoardRow], pages: str, table: str) -> str:
    """The page as text, with links to the folder of the runs' pages and to the file with the same rows."""
    folder = Path(__file__).parent
    return page_text(
        [folder],
        "index.html.j2",
        mark=MARK,
        style="".join(path.read_text(encoding="utf-8") for path in (STYLE, folder / "index.css")),
        scripts=[STYLE.with_name(name).read_text(encoding="utf-8") for name in TABLES],
        matrices=matrices(rows),
        titles=TITLES,
        rows=rows,
        pages=pages,
        table=table,
        filters={key: (title, sorted({getattr(row, key) for row in rows})) for key, title in FILTERS.items()},
        controls=sorted({row.method for row in rows if row.control}),
    )


class MatrixLine(NamedTuple):
    """One method: its row in each column, None where it was not scored, and its mean rank, NaN for a control."""

    label: str
    rank: float
    cells: list[BoardRow | None]


@dataclass(frozen=True)
class Matrix:
    """One metric: the means of all methods in all runs."""

    metric: str
    direction: str
    columns: list[BoardRow]  # one row of each run and model, for their names
    groups: dict[str, list[MatrixLine]]  # role to lines: ceilings, methods by mean rank, floors
    best: list[float]  # for each column the best mean of a method as printed; NaN where there is nothing to choose from

    def is_best(self, number: int, row: BoardRow) -> bool:
        """True if a row has the best mean of its column, alone or with others."""
        return not row.control and round(row.standing, DIGITS) == self.best[number]


def matrices(rows: Sequence[BoardRow]) -> list[Matrix]:
    """A table for each metric, those of most runs first."""
    by_metric: dict[str, list[BoardRow]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    return sorted((_matrix(*item) for item in by_metric.items()), key=lambda one: -len(one.columns))


def _matrix(metric: str, rows: Sequence[BoardRow]) -> Matrix:
    columns: dict[tuple[str, str], BoardRow] = {}  # run's page and model to the first row
    for row in rows:
        columns.setdefault((row.page, row.model), row)
    cells = {(row.role, row.method, row.page, row.model): row for row in rows}
    # a diagnostic ranks nothing, and neither does a model that has not learnt its task
    judged = [n for n, column in enumerate(columns.values()) if column.direction in RANKING and not column.warning]
    groups: dict[str, list[MatrixLine]] = {}
    best = [np.nan] * len(columns)
    for role in (CEILING, METHOD, FLOOR):
        labels = list(dict.fromkeys(row.method for row in rows if row.role == role))
        table = [[cells.get((role, label, *column)) for column in columns] for label in labels]
        ranks = [np.nan] * len(labels)
        if role == METHOD and labels and judged:
            higher = rows[0].direction == DIRECTIONS[True]
            scores = np.array([[cell.standing if (cell := line[n]) else np.nan for n in judged] for line in table])
            ranks = mean_ranks(scores, np.full(len(judged), higher)).tolist()
            for n, column in zip(judged, scores.T.tolist(), strict=True):
                defined = [round(score, DIGITS) for score in column if score == score]
                best[n] = (max if higher else min)(defined) if len(defined) > 1 else np.nan
        lines = [MatrixLine(*parts) for parts in zip(labels, ranks, table, strict=True)]
        groups |= {role: sorted(lines, key=lambda line: line.rank)} if lines else {}
    return Matrix(metric, rows[0].direction, list(columns.values()), groups, best)
