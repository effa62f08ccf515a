"""Numbers and names as pages and the terminal show them, and the templates of the pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from salgen.parameters import parse_call
from salgen.registry import METRICS

if TYPE_CHECKING:
    from jinja2 import Environment

DIGITS = 3  # a mean's; means that are equal in them are a tie
STYLE = Path(__file__).with_name("style.css")


@cache  # an environment keeps the templates that it has compiled
def templates(*folders: Path) -> Environment:
    """The templates of some folders: values are escaped, and an undefined name is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {f.__name__: f for f in (number, share, words, duration, call, call_name, metric)}
    return environment


def page_text(folders: Sequence[Path], template: str, **values: Any) -> str:
    """The text of a page, from a template in one of the folders or of the report; ``base.html.j2`` is its shell."""
    found = templates(*dict.fromkeys([*folders, STYLE.parent])).get_template(template)
    return found.render(**{"mark": "", "scripts": (), **values}).strip() + "\n"


def and_list(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def number(value: float, digits: int = DIGITS) -> str:
    """A number for a table cell, with a true minus sign; a dash where it is undefined."""
    if math.isnan(value):
        return "–"  # noqa: RUF001
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else "\N{MINUS SIGN}\N{INFINITY}"
    rounded = round(value, digits) + 0.0  # no minus zero
    return f"{rounded:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def share(value: float | None, digits: int = 1) -> str:
    """A share as a percentage; a dash where it is unknown."""
    return "–" if value is None or math.isnan(value) else f"{100 * value:.{digits}f}\N{NO-BREAK SPACE}%"  # noqa: RUF001


def words(name: Any) -> str:
    """A name such as ``no_lesions`` as words."""
    return str(name).replace("_", " ")


def duration(seconds: float) -> str:
    """Seconds as a rounded duration with its unit."""
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def call_name(text: str) -> str:
    """The name in a call."""
    return parse_call(text)[0]


def call(text: str) -> str:
    """A call with places where a line may break."""
    return text.replace(":", ": ").replace(",", ", ")


def metric(text: str) -> str:
    """A metric's call as :func:`call`, with its definition as the tooltip; other text without one."""
    from markupsafe import Markup

    entry = METRICS.entries.get(call_name(text))
    return Markup('<span title="{}">{}</span>').format(entry.summary, call(text)) if entry else call(text)
