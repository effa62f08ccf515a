"""Which methods and metrics a run uses: names, calls with parameters, and groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from salgen.errors import SalgenError
from salgen.parameters import build, parse_call
from salgen.registry import METHODS, METRICS, PROTOCOLS, Registry

ALL = "all"


def display_call(name: str, values: dict[str, str]) -> str:
    """A method as written on the command line: ``"lrp-alpha-beta:alpha=1,beta=0"``."""
    return name if not values else name + ":" + ",".join(f"{key}={value}" for key, value in values.items())


def create_methods(calls: Sequence[str] | None) -> dict[str, Any]:
    """Methods by display call, the controls always among them.

    Parameters
    ----------
    calls
        Names, calls with parameters, or groups (``all``, a protocol's name); None means ``all``.

    Raises
    ------
    SalgenError
        If a name or a parameter is unknown, or a method that no table can do without fails to load.
    """
    chosen = _create(METHODS, calls or [ALL])
    controls = {name: METHODS.create(name) for name in METHODS.names() if METHODS.load(name).control}
    return {**{call: item for call, item in chosen.items() if not item.control}, **controls, **_controls(chosen)}


def create_metrics(calls: Sequence[str] | None) -> dict[str, Any]:
    """Metrics by display call; None means every registered one."""
    return _create(METRICS, calls or [ALL])


def _controls(chosen: dict[str, Any]) -> dict[str, Any]:
    return {call: item for call, item in chosen.items() if item.control}


def _create(registry: Registry, calls: Sequence[str]) -> dict[str, Any]:
    created: dict[str, Any] = {}
    for call in calls:
        for text in _expand(registry, call):
            name, values = parse_call(text)
            created[display_call(name, values)] = build(registry.load(name), values)
    if not created:
        raise SalgenError(f"no {registry.kind} was chosen")
    return created


def _expand(registry: Registry, call: str) -> Sequence[str]:
    if call == ALL:
        return registry.names()
    if registry is METHODS and call in PROTOCOLS.entries:
        return tuple(PROTOCOLS.load(call).methods)
    return (call,)
