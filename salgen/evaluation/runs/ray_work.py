"""A run's units made by the tasks of a Ray: a task is a chunk of a model's samples, written straight to the run folder.

A worker is a process with a GPU of its own where the machines have any, and with a processor otherwise. It loads a
model once. Predictions and patterns, on which all chunks depend, are made before the first of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from salgen.datasets.execution.executors import Executor
from salgen.datasets.execution.ray_setup import check_address, ray_module
from salgen.datasets.execution.ray_tasks import (
    Connection,
    attempt,
    check_libraries,
    check_shared,
    connected,
    here,
    pack,
    unpack,
    wait_until_seen,
)
from salgen.datasets.format.manifest import FILE as MANIFEST
from salgen.datasets.making import GO_ON
from salgen.errors import SalgenError, reason
from salgen.evaluation.models.inspection.memory import memory_budget
from salgen.evaluation.models.inspection.out_of_memory import is_out_of_memory
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, ScoreChunk
from salgen.evaluation.runs.artifacts.conventions import CHUNK
from salgen.evaluation.runs.artifacts.predictions import Classes, keep_probabilities
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.ray_job import CPU, CUDA, Job
from salgen.evaluation.runs.run_record import library_versions
from salgen.types import Float32

if TYPE_CHECKING:
    from salgen.evaluation.runs.chunk_executors import Scorer
    from salgen.evaluation.runs.plan import Plan

PREDICTED_AT_A_TIME = 16 * CHUNK  # samples of a task that predicts

Chunk = tuple[int, list[ScoreChunk], Classes]


def check_there(executor: Executor) -> None:
    """Raise a SalgenError if no Ray answers at the executor's address."""
    if executor.address is None or ray_module().is_initialized():
        return
    try:
        check_address(executor.address)
    except (OSError, ValueError) as error:
        raise SalgenError(f"ray_address = {executor.address}: {reason(error)}") from None


@contextmanager
def scoring_by_ray(executor: Executor) -> Iterator[tuple[Scorer, str]]:
    """What writes units as tasks of a Ray, and the type of device that its workers have."""
    with connected(executor, gpus=torch.cuda.device_count()) as connection:
        scoring = RayScoring(connection)
        yield scoring, scoring.device


@dataclass(frozen=True)
class RayScoring:
    """A Ray that writes the units of a run."""

    connection: Connection

    @property
    def device(self) -> str:
        """The type of device that all workers have."""
        return CUDA if self.connection.gpus else CPU

    def __call__(self, work: ModelRunner, missing: Mapping[int, Sequence[ScoreChunk]]) -> Iterator[ScoreChunk]:
        """Write missing units, by the chunk's place; yields each when it is seen here, in any order.

        Raises
        ------
        SalgenError, OSError, MemoryError
            What a task met.
        """
        if not missing:
            return
        try:
            yield from self._score(work, missing)
        except ChildProcessError as error:
            raise SalgenError(f"{work.run}: {error}; {GO_ON}") from None

    def _score(self, work: ModelRunner, missing: Mapping[int, Sequence[ScoreChunk]]) -> Iterator[ScoreChunk]:
        payload = pack(Job.of(work, self.device))
        if not work.predictions_path.exists():
            keep_probabilities(work.predictions_path, self._probabilities(payload, len(work.plan.dataset)))
        for one in (work, *work.others.values()):
            one.patterns  # noqa: B018  # fitted here, once, where they are not
        predicted, chunks = work.predictions.predicted, work.plan.chunks
        orders: Iterator[Chunk] = (
            (number, [replace(unit, path=unit.path.absolute()) for unit in units], predicted[list(chunks[number])])
            for number, units in missing.items()
        )
        for (number, _, _), _ in self._outcomes(_score, payload, orders, _chunk_called):
            for unit in missing[number]:
                wait_until_seen(unit.path)
                yield unit

    def _probabilities(self, payload: bytes, count: int) -> Float32:
        """Those of all samples of the split, float32 (N, K)."""
        size = PREDICTED_AT_A_TIME
        parts = [range(start, min(start + size, count)) for start in range(0, count, size)]
        found = dict(self._outcomes(_predict, payload, parts, lambda part: f"samples {part.start} to {part.stop - 1}"))
        return np.concatenate([found[part] for part in parts])

    def _outcomes(self, task: Any, payload: bytes, orders: Any, called: Any) -> Iterator[tuple[Any, Any]]:
        return self.connection.outcomes(task, payload, orders, called, gpus=int(self.device == CUDA))


# In a worker of Ray ---------------------------------------------------------------------------------


def _score(payload: bytes, chunk: Chunk) -> object:
    """Write the units of a chunk; what goes wrong is the value."""
    number, units, predicted = chunk

    def score() -> None:
        work = _work(payload)
        missing = work.missing(number, units)  # a worker that was killed may have written some
        for _ in work.score(number, missing, predicted):
            pass

    return attempt(lambda: _in_memory(score), _chunk_called(chunk))


def _predict(payload: bytes, part: range) -> object:
    """Probabilities of some samples of the split, float32 (n, K); what goes wrong is the value."""

    def predict() -> Float32:
        work = _work(payload)
        return np.concatenate([work.probabilities(batch.images) for batch in work.plan.dataset.batches(CHUNK, part)])

    return attempt(lambda: _in_memory(predict), f"samples {part.start} to {part.stop - 1}")


def _in_memory(work: Any) -> Any:
    """Do some work; torch's ways of running out of memory become Python's."""
    try:
        return work()
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise MemoryError(f"{here()}: {reason(error)}") from None
        raise


def _chunk_called(chunk: Chunk) -> str:
    return f"chunk {chunk[0]} of the scored samples"


@lru_cache(maxsize=1)
def _work(payload: bytes) -> ModelRunner:
    """The work, once per process, so that a model is loaded once.

    Raises
    ------
    ChildProcessError
        If this machine cannot do it, or would find other scores than the others.
    """
    job: Job = unpack(payload, "the work")
    if job.device == CPU:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a GPU that Ray does not know of is not ours
    check_libraries(job.libraries, library_versions(), "would find other scores")
    check_shared(job.run / PARTS)
    check_shared(job.data / MANIFEST)
    if job.device == CUDA and not torch.cuda.is_available():
        raise ChildProcessError(f"{here()} has a GPU for Ray and none for PyTorch: install a PyTorch that can use it")
    try:
        work = job.load()
    except Exception as error:  # a user's module may fail in any way
        raise ChildProcessError(f"{here()} cannot load the work ({type(error).__name__}: {reason(error)})") from None
    return replace(work, plan=_with_its_share_of_memory(work.plan)) if job.device == CPU else work


def _with_its_share_of_memory(plan: Plan) -> Plan:
    """The memory that one process would take belongs to all workers of this machine together."""
    if plan.max_memory is not None:
        return plan
    share = memory_budget(torch.device(CPU), None) / 1e9 / _workers_here()
    return plan.changed(max_memory=share if share < float("inf") else None)


def _workers_here() -> int:
    """How many workers Ray may run on this machine at a time."""
    ray = ray_module()
    node = ray.get_runtime_context().get_node_id()
    return max(1, int(next(one["Resources"].get("CPU", 1) for one in ray.nodes() if one["NodeID"] == node)))
