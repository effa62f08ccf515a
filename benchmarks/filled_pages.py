"""Pages of the documentation whose tables are written by a program."""

import re


def filled(page: str, tables: object) -> str:
    """The page with its tables: the paragraph after ``<!-- NAME -->`` is replaced by what ``tables.NAME()`` returns."""
    return re.sub(
        r"(?<=<!-- )(\w+) -->\n\n.*?(?=\n\n|\n\Z)",
        lambda found: f"{found[1]} -->\n\n{getattr(tables, found[1])()}",
        page,
        flags=re.DOTALL,
    )
