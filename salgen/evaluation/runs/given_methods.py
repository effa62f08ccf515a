"""Methods that are not salgen's among those of the run that is extended: they are imported again."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError
from salgen.evaluation.attribution.foreign_methods import ForeignMethod, foreign_method
from salgen.evaluation.runs.artifacts.run_record import MethodRecord, RunRecord


def earlier_methods(held: RunRecord, given: Collection[str], run: Path) -> list[Any]:
    """The methods of the run that a folder holds, maps from files and those `given` now aside.

    Returns
    -------
    A call for each of salgen's, and a `ForeignMethod` for each other.

    Raises
    ------
    SalgenError
        If one cannot be imported, or is not what it was.
    """
    records = [method for method in held.methods if method.files is None and method.call not in given]
    return [method.call if method.foreign is None else _again(method, run) for method in records]


def _again(record: MethodRecord, run: Path) -> ForeignMethod:
    held = record.foreign
    assert held is not None
    advice = "give it again among methods, or replace the run (replace=True, --replace)"
    if held.import_path is None:
        raise SalgenError(f"{run} has the method {record.call!r}, which is {record.reference}: {advice}")
    try:
        method = foreign_method(held.import_path, record.call, {k: _tupled(v) for k, v in held.parameters.items()})
    except SalgenError as error:
        raise SalgenError(f"{run} has the method {record.call!r}, and {error}: {advice}") from error
    if method.sha256 != held.sha256:
        raise SalgenError(
            f"{run} has the method {record.call!r}, and the source of {held.import_path} is not what it was: {advice}"
        )
    return method


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def check_importable(methods: Iterable[Any]) -> None:
    """Raise a SalgenError if workers of Ray cannot import a method."""
    pickle.dumps([method for method in methods if isinstance(method, ForeignMethod)])


def recorded(record: MethodRecord) -> ForeignMethod:
    """What stands for a method whose maps a run has: nothing is imported for it, so it cannot explain."""
    held = record.foreign
    assert held is not None
    return ForeignMethod(
        call=record.call,
        given=None,
        arguments={},
        signed=record.signed,
        origin=record.reference.partition(", not re-runnable")[0],
        only_key="",
        import_path=held.import_path,
        parameters=held.parameters,
        library=held.library,
        sha256=held.sha256,
    )
