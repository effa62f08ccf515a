"""Which methods a run uses: names, calls with parameters, and groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from salgen.evaluation.request import Method
from salgen.parameters import call_text, parse_call
from salgen.registry import METHODS, PROTOCOLS

ALL = "all"


def create_methods(calls: Sequence[str] | None) -> dict[str, Method]:
    """Methods by their calls, the controls always among them and last.

    Parameters
    ----------
    calls
        Names, calls with parameters, or groups (``all``, a protocol's name); None means ``all``.

    Raises
    ------
    SalgenError
        If a name or a parameter is unknown.
    """
    chosen = [METHODS.create(*parse_call(text)) for call in calls or [ALL] for text in _expand(call)]
    controls = [METHODS.create(name) for name in METHODS.names() if METHODS.load(name).control]
    methods = [method for method in chosen if not method.control] + [method for method in chosen if method.control]
    return {call_text(method): method for method in [*methods, *controls]}


def _expand(call: str) -> Iterator[str]:
    if call == ALL:
        yield from METHODS.names()
    elif call in PROTOCOLS.entries:
        yield from PROTOCOLS.load(call).methods
    else:
        yield call
