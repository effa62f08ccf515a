"""What explains and scores the units of a run: this process, or the workers of a Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from salgen.datasets.execution.executors import Executor
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.chunk_files import ScoreChunk
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.files import remove_temporaries

Scorer = Callable[[ModelRunner, Mapping[int, Sequence[ScoreChunk]]], Iterator[ScoreChunk]]
"""Writes the missing units of chunks, by their places among the scored samples; yields each when it is written."""


def unit_executor(name: str, workers: int | None, address: str | None) -> Executor:
    """What shall do the work, looked at before any is done.

    Raises
    ------
    SalgenError
        If its parts do not go together, Ray is not installed, or none answers at the address.
    """
    executor = Executor(name, workers, address)
    if name == "ray":
        from salgen.evaluation.runs.ray_work import check_there

        check_there(executor)
    elif workers is not None:
        raise SalgenError(f"workers = {workers}: is for executor = ray; without it this process does all the work")
    return executor


@contextmanager
def scoring_by(executor: Executor, run: Path) -> Iterator[tuple[Scorer, str | None]]:
    """What writes the units of a run to its folder, and the type of device on which it makes maps.

    That is None where this process makes them: they are made where the models lie.
    """
    if executor.name != "ray":
        yield score_here, None
        return
    from salgen.evaluation.runs.ray_work import scoring_by_ray

    try:
        with scoring_by_ray(executor) as scoring:
            yield scoring
    finally:
        remove_temporaries(run, below=True)  # of workers that were killed


def score_here(work: ModelRunner, missing: Mapping[int, Sequence[ScoreChunk]]) -> Iterator[ScoreChunk]:
    """Write missing units in this process, a chunk after the other."""
    for number, units in missing.items():
        yield from work.score(number, units, work.predictions.predicted[list(work.plan.chunks[number])])
