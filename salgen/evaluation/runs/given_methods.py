"""Methods that are not salgen's among those of a run: no run names anything that is imported."""

import pickle
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import Method
from salgen.evaluation.attribution.foreign_methods import ForeignMethod
from salgen.evaluation.runs.artifacts.run_record import MethodRecord, RunRecord, content_faults
from salgen.parameters import parse_call
from salgen.registry import METHODS


def earlier_methods(held: RunRecord, given: Collection[str], run: Path) -> list[Method]:
    """The methods of salgen in the run that a folder holds."""
    records = [method for method in held.methods if method.files is None and method.call not in given]
    missing = [method for method in records if method.foreign is not None]
    if missing:
        named = "; ".join(f"{method.call!r}, which is {method.reference}" for method in missing)
        raise SalgenError(
            f"{run} has the method {named}: give it again among methods, such as -m NAME=PACKAGE.MODULE:FUNCTION (only "
            "this command's own are imported), or replace the run (replace=True, --replace)"
        )
    with content_faults([run]):
        return [METHODS.create(*parse_call(method.call)) for method in records]


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
