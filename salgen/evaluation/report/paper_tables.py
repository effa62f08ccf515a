"""A paper's tables in the terminal, each number followed by the paper's in brackets, and its claims with verdicts."""

from collections.abc import Sequence
from textwrap import wrap

from salgen.evaluation.report.formatting import number
from salgen.evaluation.report.study import Finding, StudyTable, TableRow

WIDTH = 100  # characters of a line of prose


def tables_text(tables: Sequence[StudyTable]) -> str:
    """Plain text, one block for each table, with a line for each metric and method."""
    return "\n\n".join("\n".join(_block(table)) for table in tables)


def findings_text(findings: Sequence[Finding]) -> str:
    """Plain text: for each claim its verdict, the numbers behind it, and the number of clusters, samples and models."""
    lines = []
    for finding in findings:
        said = f"{finding.numbers}; {finding.size}" if finding.size else finding.numbers
        lines += wrap(f"{finding.verdict}: {finding.claim}. {said}", WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def _block(table: StudyTable) -> list[str]:
    heads = ["", *table.methods]
    rows = [[row.title, *(_cell(row, method) for method in table.methods)] for row in table.rows]
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    return [*wrap(f"{table.title}. {table.caption}", WIDTH), "", *(_line(row, widths) for row in (heads, *rows))]


def _cell(row: TableRow, method: str) -> str:
    printed = f" ({row.printed[method]})" if method in row.printed else ""
    return number(row.means[method]) + printed


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *columns = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join([first, *columns]).rstrip()
