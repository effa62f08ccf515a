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
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(map(str.ljust, cells, widths)) + " |" for cells in lines)
