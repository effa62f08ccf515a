"""Scores and certificates written by Ray tasks: each is of a chunk of samples, and writes to the run folder itself.

A worker is a process with a GPU of its own where the machines have any, and with a processor otherwise. It loads a
model once. Predictions and patterns, on which all chunks depend, are computed before the first chunk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from salgen.datasets.execution.executors import Executor, check_address, ray_module
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
from salgen.datasets.making import CONTINUES
from salgen.errors import SalgenError, reason
from salgen.evaluation.models.inspection.batch_size import memory_budget
from salgen.evaluation.models.inspection.memory import is_out_of_memory
from salgen.evaluation.reliance.rerender import Renderer
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, ScoreChunk
from salgen.evaluation.runs.artifacts.conventions import CHUNK
from salgen.evaluation.runs.artifacts.predictions import Classes, keep_probabilities
from salgen.evaluation.runs.artifacts.provenance import library_versions
from salgen.evaluation.runs.certify import Certifier
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.ray_job import CPU, CUDA, Job
from salgen.files import remove_temporaries
from salgen.types import Float32

PREDICTED_AT_A_TIME = 16 * CHUNK  # samples per prediction task

Order = tuple[int, Classes]  # a chunk's place among the scored samples, and the predicted class of each sample


def check_address_of(executor: Executor) -> None:
    """Raise a SalgenError if no Ray answers at the executor's address."""
    if executor.address is None or ray_module().is_initialized():
        return
    try:
        check_address(executor.address)
    except (OSError, ValueError) as error:
        raise SalgenError(f"ray_address = {executor.address}: {reason(error)}") from None


@contextmanager
def ray_workers(executor: Executor, run: Path) -> Iterator[RayWorkers]:
    """Ray workers that write to a run's folder."""
    try:
        with connected(executor, gpus=torch.cuda.device_count()) as connection:
            yield RayWorkers(connection)
    finally:
        remove_temporaries(run, below=True)  # left by workers that were killed


@contextmanager
def _explained(runner: ModelRunner) -> Iterator[None]:
    """Turn the error of a machine that cannot do the work into one that says how to go on."""
    try:
        yield
    except ChildProcessError as error:
        raise SalgenError(f"{runner.run}: {error}; {CONTINUES}") from None


@dataclass(frozen=True)
class RayWorkers:
    """Ray workers; each has a :class:`ModelRunner` that writes chunks as one in this process would."""

    connection: Connection

    @property
    def device(self) -> str:
        """The type of device that all workers have."""
        return CUDA if self.connection.gpus else CPU

    def write(self, runner: ModelRunner, missing: Mapping[int, Sequence[ScoreChunk]]) -> Iterator[tuple[str, int]]:
        """Have the workers write the missing scores, by the chunk's place.

        Yields
        ------
        Each method and the number of its maps, once the file of their scores is visible here.
        """
        if missing:
            with _explained(runner):
                yield from self._write(runner, missing)

    def certify(self, certifier: Certifier, source: str | None) -> Iterator[int]:
        """Have the workers write a model's missing certificates; yield each chunk's number once its file is visible.

        `source` and errors are those of :func:`~salgen.evaluation.runs.certify.certify`.
        """
        payload = pack(Job.of(certifier.runner, self.device))
        orders = [(number, source) for number in certifier.missing]
        with _explained(certifier.runner):
            for (number, _), _ in self._outcomes(_certify, payload, orders, _order_name):
                wait_until_seen(certifier.paths[number])
                yield number

    def _write(self, runner: ModelRunner, missing: Mapping[int, Sequence[ScoreChunk]]) -> Iterator[tuple[str, int]]:
        payload = pack(Job.of(runner, self.device))
        if not runner.predictions_path.exists():
            keep_probabilities(runner.predictions_path, self._probabilities(payload, len(runner.plan.dataset)))
        for fitted in (runner, *runner.counterparts.values()):
            fitted.patterns  # noqa: B018  # fits them here, once, if they are not
        orders: Iterator[Order] = ((number, runner.predicted(number)) for number in missing)
        for (number, _), _ in self._outcomes(_write, payload, orders, _order_name):
            for chunk in missing[number]:
                wait_until_seen(chunk.path)
                yield chunk.call, len(chunk.indices)

    def _probabilities(self, payload: bytes, count: int) -> Float32:
        """The probabilities of all samples of the split, float32 (N, K)."""
        size = PREDICTED_AT_A_TIME
        parts = [range(start, min(start + size, count)) for start in range(0, count, size)]
        by_part = dict(
            self._outcomes(_predict, payload, parts, lambda part: f"samples {part.start} to {part.stop - 1}")
        )
        return np.concatenate([by_part[part] for part in parts])

    def _outcomes(self, task: Any, payload: bytes, orders: Any, name: Any) -> Iterator[tuple[Any, Any]]:
        return self.connection.outcomes(task, payload, orders, name, gpus=int(self.device == CUDA))


# In a Ray worker ------------------------------------------------------------------------------------


def _write(payload: bytes, order: Order) -> object:
    """Write the missing scores of a chunk; a failure is returned rather than raised."""

    def write() -> None:
        for _ in _runner(payload).write(*order):  # none, if a killed worker had written them
            pass

    return attempt(lambda: _in_memory(write), _order_name(order))


def _predict(payload: bytes, part: range) -> object:
    """Probabilities of some samples of the split, float32 (n, K); a failure is returned rather than raised."""

    def predict() -> Float32:
        runner = _runner(payload)
        batches = runner.plan.dataset.batches(CHUNK, part)
        return np.concatenate([runner.model.probabilities(batch.images) for batch in batches])

    return attempt(lambda: _in_memory(predict), f"samples {part.start} to {part.stop - 1}")


def _certify(payload: bytes, order: tuple[int, str | None]) -> object:
    """Write the certificates of a chunk; a failure is returned rather than raised."""
    number, source = order

    def certify() -> None:
        list(Certifier(_runner(payload)).write([number], _renderer(payload, source)))

    return attempt(lambda: _in_memory(certify), _order_name(order))


def _in_memory(work: Any) -> Any:
    """Do some work, with PyTorch's out-of-memory errors turned into a MemoryError."""
    try:
        return work()
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise MemoryError(f"{here()}: {reason(error)}") from None
        raise


def _order_name(order: tuple[int, Any]) -> str:
    return f"chunk {order[0]} of the scored samples"


@lru_cache(maxsize=1)
def _runner(payload: bytes) -> ModelRunner:
    """The runner, once per process, so that a model is loaded once."""
    job: Job = unpack(payload, "the job")
    if job.device == CPU:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a GPU that Ray does not manage is not for this worker
    check_libraries(job.libraries, library_versions(), "would compute other scores")
    check_shared(job.run / PARTS)
    check_shared(job.data / MANIFEST)
    if job.device == CUDA and not torch.cuda.is_available():
        raise ChildProcessError(f"{here()} has a GPU that PyTorch cannot use: install a PyTorch build with CUDA")
    try:
        runner = job.load()
    except Exception as error:  # a user's module may fail in any way
        raise ChildProcessError(f"{here()} cannot load the job ({type(error).__name__}: {reason(error)})") from None
    return replace(runner, plan=_with_memory_share(runner.plan)) if job.device == CPU else runner


@lru_cache(maxsize=1)
def _renderer(payload: bytes, source: str | None) -> Renderer:
    """Renders samples again, once per process."""
    plan = _runner(payload).plan
    return Renderer.of(plan.dataset, source, plan.scored[0])


def _with_memory_share(plan: Plan) -> Plan:
    """A plan with this worker's share of the memory that one process would take on this machine."""
    if plan.max_memory is not None:
        return plan
    share = memory_budget(torch.device(CPU), None) / 1e9 / _workers_on_this_machine()
    return replace(plan, max_memory=share if share < float("inf") else None)


def _workers_on_this_machine() -> int:
    """Number of workers that Ray may run on this machine at a time."""
    ray = ray_module()
    node = ray.get_runtime_context().get_node_id()
    return max(1, int(next(entry["Resources"].get("CPU", 1) for entry in ray.nodes() if entry["NodeID"] == node)))
