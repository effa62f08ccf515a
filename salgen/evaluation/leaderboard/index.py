"""The first page: methods x data sets, and one table of all rows, sorted and filtered by a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
import numpy as np
from salgen.evaluation.leaderboard.rows import DIRECTIONS, BoardRow
from salgen.evaluation.report import page
from salgen.evaluation.report.formatting import DIGITS, STYLE, page_text
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD
from salgen.evaluation.report.tables import TITLES
from salgen.evaluation.statistics.ranks import mean_ranks

MARK = '<meta name="generator" content="salgen leaderboard">'
FILTERS = {"dataset": "Data set", "model": "Model", "method": "Method", "metric": "Metric"}


def index_html(rows: Sequence[BoardRow], pages: str, table: str) -> str:
    """The page as text, with links to the folder of the runs' pages and to the file with the same rows."""
    folder = Path(__file__).parent
    scripts = folder / "index.js", Path(page.__file__).with_name(page.SAVE)
    return page_text(
        [folder],
        "index.html.j2",
        mark=MARK,
        style="".join(path.read_text(encoding="utf-8") for path in (STYLE, folder / "index.css")),
        scripts=[path.read_text(encoding="utf-8") for path in scripts],
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
    groups: dict[str, list[MatrixLine]] = {}
    for role in (CEILING, METHOD, FLOOR):
        labels = list(dict.fromkeys(row.method for row in rows if row.role == role))
        table = [[cells.get((role, label, *column)) for column in columns] for label in labels]
        ranks = _ranks(table, list(columns.values())) if role == METHOD else [np.nan] * len(labels)
        lines = [MatrixLine(*parts) for parts in zip(labels, ranks, table, strict=True)]
        groups |= {role: sorted(lines, key=lambda line: line.rank)} if lines else {}
    best = [_best([line.cells[number] for line in groups.get(METHOD, [])]) for number in range(len(columns))]
    return Matrix(metric, rows[0].direction, list(columns.values()), groups, best)


def _ranks(table: Sequence[Sequence[BoardRow | None]], columns: Sequence[BoardRow]) -> list[float]:
    """Mean ranks over the columns whose models have learnt their task; NaN for a diagnostic."""
    judged = [number for number, column in enumerate(columns) if not column.warning]
    if columns[0].direction == DIRECTIONS[None] or not judged:
        return [np.nan] * len(table)
    scores = np.array([[row.standing if (row := line[number]) else np.nan for number in judged] for line in table])
    higher = np.full(len(judged), columns[0].direction == DIRECTIONS[True])
    return [float(rank) for rank in mean_ranks(scores, higher)]


def _best(cells: Sequence[BoardRow | None]) -> float:
    defined = [row for row in cells if row is not None and row.standing == row.standing]
    if len(defined) < 2 or defined[0].direction == DIRECTIONS[None] or defined[0].warning:
        return np.nan
    choose = max if defined[0].direction == DIRECTIONS[True] else min
    return round(choose(row.standing for row in defined), DIGITS)
