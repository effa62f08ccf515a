"""Markdown tables that can be read in a terminal too."""

from collections.abc import Sequence


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns are aligned in plain text.

    Examples
    --------
    >>> print(markdown_table(["name", "n"], [["a", "10"]]))
    | name | n   |
    | ---- | --- |
    | a    | 10  |
    """
    widths = [max(3, *(len(row[column]) for row in [header, *rows])) for column in range(len(header))]
    rule = ["-" * width for width in widths]
    return "\n".join(_line(row, widths) for row in [header, rule, *rows])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)) + " |"
