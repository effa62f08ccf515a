"""The first page: methods x data sets, and one table of all rows, sorted and filtered by a script."""

from collections.abc import Sequence
from pathlib import Path

from salgen.evaluation.leaderboard.matrix import matrices
from salgen.evaluation.leaderboard.rows import BoardRow
from salgen.evaluation.report import page
from salgen.evaluation.report.formatting import call, number, share
from salgen.evaluation.report.tables import TITLES
from salgen.evaluation.report.templates import templates

TEMPLATE = "index.html.j2"
MARK = '<meta name="generator" content="salgen leaderboard">'


def index_html(rows: Sequence[BoardRow], pages: str, table: str) -> str:
    """The page as text.

    Parameters
    ----------
    rows
        The rows, in the order of the table.
    pages, table
        The folder of the runs' pages, and the file with the same rows, as seen from the page.
    """
    folder, report = Path(__file__).parent, Path(page.__file__).parent
    environment = templates(folder)
    environment.filters |= {"number": number, "share": share, "call": call}
    html = environment.get_template(TEMPLATE).render(
        mark=MARK,
        style=_text(report / page.STYLE) + _text(folder / "index.css"),
        scripts=[_text(folder / "index.js"), _text(report / page.SAVE)],
        matrices=matrices(rows),
        titles=TITLES,
        rows=rows,
        pages=pages,
        table=table,
        filters=_filters(rows),
        controls=sorted({row.method for row in rows if row.control}),
    )
    return html.strip() + "\n"


def _filters(rows: Sequence[BoardRow]) -> dict[str, tuple[str, list[str]]]:
    """Attribute of a row to its name on the page and its values."""
    titles = {"dataset": "Data set", "model": "Model", "method": "Method", "metric": "Metric"}
    return {key: (title, sorted({getattr(row, key) for row in rows})) for key, title in titles.items()}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
