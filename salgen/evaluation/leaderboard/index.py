"""The first page: methods x data sets, and one table of all rows, sorted and filtered by a script."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
import numpy as np
from salgen.evaluation.leaderboard.rows import DIRECTIONS
from salgen.evaluation.report.formatting import DIGITS, STYLE, page_text
from salgen.evaluation.report.page import TABLES
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD
from salgen.evaluation.report.tables import TITLES
from salgen.evaluation.statistics.ranks import mean_ranks

MARK = '<meta name="generator" content="salgen leaderboard">'
RANKING = (DIRECTIONS[True], DIRECTIONS[False])
FILTERS = {"dataset": "Data set", "model": "Model", "method": "Method", "metric": "Metric"}


def index_html(rows: Sequence[SimpleNamespace], pages: str, table: str) -> str:
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


def matrices(rows: Sequence[SimpleNamespace]) -> list[SimpleNamespace]:
    """The means of all methods in all runs, a table for each metric, those of most runs first.

    `columns` are one row of each run and model, for their names. `groups` are the roles with their lines, methods by
    mean rank. A line's cells are its rows in the columns, None where it was not scored. `best` says of each cell
    whether it has the best mean of its column as printed, alone or with others.
    """
    by_metric: dict[str, list[SimpleNamespace]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    return sorted((_matrix(*item) for item in by_metric.items()), key=lambda one: -len(one.columns))


def _matrix(metric: str, rows: Sequence[SimpleNamespace]) -> SimpleNamespace:
    columns: dict[tuple[str, str], SimpleNamespace] = {}  # run's page and model to the first row
    for row in rows:
        columns.setdefault((row.page, row.model), row)
    cells = {(row.role, row.method, row.page, row.model): row for row in rows}
    # a diagnostic ranks nothing, and neither does a model that has not learnt its task
    judged = [n for n, column in enumerate(columns.values()) if column.direction in RANKING and not column.warning]
    groups: dict[str, list[SimpleNamespace]] = {}
    for role in (CEILING, METHOD, FLOOR):
        labels = list(dict.fromkeys(row.method for row in rows if row.role == role))
        table = [[cells.get((role, label, *column)) for column in columns] for label in labels]
        ranks, best = [np.nan] * len(labels), np.zeros((len(labels), len(columns)), dtype=bool)
        if role == METHOD and labels and judged:
            higher = rows[0].direction == DIRECTIONS[True]
            scores = np.array([[cell.standing if (cell := line[n]) else np.nan for n in judged] for line in table])
            ranks = mean_ranks(scores, np.full(len(judged), higher)).tolist()
            printed = scores.round(DIGITS)
            several = np.isfinite(printed).sum(axis=0) > 1
            best[:, judged] = several & (printed == (np.fmax if higher else np.fmin).reduce(printed))
        parts = zip(labels, ranks, table, best.tolist(), strict=True)
        lines = [SimpleNamespace(label=label, rank=rank, cells=row, best=of) for label, rank, row, of in parts]
        groups |= {role: sorted(lines, key=lambda line: line.rank)} if lines else {}
    return SimpleNamespace(metric=metric, direction=rows[0].direction, columns=list(columns.values()), groups=groups)
