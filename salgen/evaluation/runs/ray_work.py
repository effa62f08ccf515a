"""Scores and certificates written by Ray tasks: each is of a chunk of samples, and writes to the run folder itself.

A worker has a GPU of its own where there are any. It gets paths instead of data and weights, and loads a model once.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
import numpy as np
import torch
from salgen.datasets.execution import ray_tasks
from salgen.datasets.execution.executors import Executor, check_address, ray_module
from salgen.datasets.making import CONTINUES
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError, reason
from salgen.evaluation.models.inspection.batch_size import memory_budget
from salgen.evaluation.models.inspection.memory import is_out_of_memory
from salgen.evaluation.reliance.rerender import Renderer
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, ScoreChunk, library_versions
from salgen.evaluation.runs.artifacts.predictions import Classes, keep_probabilities
from salgen.evaluation.runs.artifacts.run_record import CHUNK
from salgen.evaluation.runs.certify import Certifier
from salgen.evaluation.runs.evaluated_models import EvaluatedModel, load_model
from salgen.evaluation.runs.given_models import given_model
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.files import remove_temporaries
from salgen.types import Float32

PREDICTED_AT_A_TIME = 16 * CHUNK  # samples per prediction task
CPU, CUDA = "cpu", "cuda"

Order = tuple[int, Classes]  # a chunk's place among the scored samples, and the predicted class of each sample


def ray_executor(name: str, workers: int | None, address: str | None) -> Executor | None:
    """The Ray executor, checked before any work; None for this process."""
    if (name, workers, address) == ("local", None, None):
        return None
    executor = Executor(name, workers, address)
    if name != "ray":
        raise SalgenError(f"workers = {workers}: only for executor = ray; otherwise this process does all the work")
    if address is not None and not ray_module().is_initialized():
        try:
            check_address(address)
        except (OSError, ValueError) as error:
            raise SalgenError(f"ray_address = {address}: {reason(error)}") from None
    return executor


@contextmanager
def ray_workers(executor: Executor, run: Path) -> Iterator[RayWorkers]:
    """Ray workers that write to a run's folder."""
    try:
        with ray_tasks.connected(executor, gpus=torch.cuda.device_count()) as connection:
            yield RayWorkers(connection)
    except ChildProcessError as error:  # a machine that cannot do the work
        raise SalgenError(f"{run}: {error}; {CONTINUES}") from None
    finally:
        remove_temporaries(run, below=True)  # left by workers that were killed


@dataclass(frozen=True)
class RayWorkers:
    """Ray workers; each has a :class:`ModelRunner` that writes chunks as one in this process would."""

    connection: ray_tasks.Connection

    @property
    def device(self) -> str:
        """The type of device that all workers have."""
        return CUDA if self.connection.gpus else CPU

    def write(self, runner: ModelRunner, missing: Mapping[int, Sequence[ScoreChunk]]) -> Iterator[tuple[str, int]]:
        """Have workers write missing scores; yields each method and its number of maps once the file is seen here."""
        if not missing:
            return
        payload = ray_tasks.pack(Job.of(runner, self.device))
        if not runner.predictions_path.exists():
            keep_probabilities(runner.predictions_path, self._probabilities(payload, len(runner.plan.dataset)))
        for fitted in (runner, *runner.counterparts.values()):
            fitted.patterns  # noqa: B018  # fits them here, once, if they are not
        orders: Iterator[Order] = ((number, runner.predicted(number)) for number in missing)
        for (number, _), _ in self._outcomes(_write, payload, orders):
            for chunk in missing[number]:
                ray_tasks.wait_until_seen(chunk.path)
                yield chunk.call, len(chunk.indices)

    def certify(self, certifier: Certifier, source: str | None) -> Iterator[int]:
        """Have the workers write a model's missing certificates; yield each chunk's number once its file is visible."""
        payload = ray_tasks.pack(Job.of(certifier.runner, self.device))
        orders = [(number, source) for number in certifier.missing]
        for (number, _), _ in self._outcomes(_certify, payload, orders):
            ray_tasks.wait_until_seen(certifier.paths[number])
            yield number

    def _probabilities(self, payload: bytes, count: int) -> Float32:
        """The probabilities of all samples of the split, float32 (N, K)."""
        size = PREDICTED_AT_A_TIME
        parts = [range(start, min(start + size, count)) for start in range(0, count, size)]
        by_part = dict(self._outcomes(_predict, payload, parts, _part_name))
        return np.concatenate([by_part[part] for part in parts])

    def _outcomes(self, task: Any, payload: bytes, orders: Any, name: Any = None) -> Iterator[tuple[Any, Any]]:
        return self.connection.outcomes(task, payload, orders, name or _order_name, gpus=int(self.device == CUDA))


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs to load a model's runner."""

    run: Path  # the run folder, which all machines see
    device: str  # the type of device that the worker has
    folder: Path  # the working directory, in which a user's metrics are imported
    libraries: Mapping[str, str]  # versions of the libraries that scores depend on
    plan: bytes  # the plan for this model, pickled without data and weights

    @classmethod
    def of(cls, runner: ModelRunner, device: str) -> Job:
        """The job by which workers do what this process would."""
        pickled = io.BytesIO()
        _Pickler(pickled).dump(runner.plan.for_model(runner.model))
        return cls(runner.run.absolute(), device, Path.cwd(), library_versions(), pickled.getvalue())

    def load(self) -> ModelRunner:
        """The runner, with its data and its models."""
        sys.path.append(str(self.folder))
        plan: Plan = _Unpickler(io.BytesIO(self.plan)).load()
        return ModelRunner(plan, plan.models[0], self.run)


class _Pickler(pickle.Pickler):
    """Stores of the data set and of models how to load them again from any directory."""

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, Dataset):
            source = value.source
            if source is not None and Path(source).exists():
                source = str(Path(source).absolute())
            return "data", value.path.absolute(), value.split, source, value.name
        if not isinstance(value, EvaluatedModel):
            return None
        fields = {name: getattr(value, name) for name in ("name", "seed", "digest", "origin", "task", "compile")}
        fields["folder"] = value.folder.absolute()
        if value.origin["trained_on"] is not None:
            return "model", str(fields["folder"]), None, fields
        return "model", value.origin["checkpoint"], Path.cwd(), fields


class _Unpickler(pickle.Unpickler):
    _dataset: Dataset  # a plan's data set comes before its models

    def persistent_load(self, reference: Any) -> Any:
        if reference[0] == "data":
            *how, name = reference[1:]
            self._dataset = open_dataset(*how)
            self._dataset.name = name
            return self._dataset
        path, directory, fields = reference[1:]
        with nullcontext() if directory is None else chdir(directory):
            model = load_model(self._dataset, given_model(path), fields["folder"], any_task=True)
        return replace(model, **fields)


# In a Ray worker ------------------------------------------------------------------------------------


def _write(payload: bytes, order: Order) -> object:
    """Write the missing scores of a chunk; a failure is returned rather than raised."""
    return _attempt(lambda: list(_runner(payload).write(*order)), _order_name(order))


def _predict(payload: bytes, part: range) -> object:
    """Probabilities of some samples of the split, float32 (n, K); a failure is returned rather than raised."""

    def predict() -> Float32:
        runner = _runner(payload)
        batches = runner.plan.dataset.batches(CHUNK, part)
        return np.concatenate([runner.model.probabilities(batch.images) for batch in batches])

    return _attempt(predict, _part_name(part))


def _certify(payload: bytes, order: tuple[int, str | None]) -> object:
    """Write the certificates of a chunk; a failure is returned rather than raised."""
    number, source = order
    return _attempt(
        lambda: list(Certifier(_runner(payload)).write([number], _renderer(payload, source))), _order_name(order)
    )


def _attempt(work: Callable[[], Any], name: str) -> Any:
    """The value of some work or its failure; PyTorch's out-of-memory errors are a MemoryError."""

    def in_memory() -> Any:
        try:
            return work()
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise MemoryError(f"{ray_tasks.here()}: {reason(error)}") from None
            raise

    return ray_tasks.attempt(in_memory, name)


def _order_name(order: tuple[int, Any]) -> str:
    return f"chunk {order[0]} of the scored samples"


def _part_name(part: range) -> str:
    return f"samples {part.start} to {part.stop - 1}"


@lru_cache(maxsize=1)
def _runner(payload: bytes) -> ModelRunner:
    """The runner, once per process, so that a model is loaded once."""
    job: Job = ray_tasks.unpack(payload, "the job")
    if job.device == CPU:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a GPU that Ray does not manage is not for this worker
    ray_tasks.check_libraries(job.libraries, library_versions(), "would compute other scores")
    ray_tasks.check_shared(job.run / PARTS)
    here = ray_tasks.here()
    if job.device == CUDA and not torch.cuda.is_available():
        raise ChildProcessError(f"{here} has a GPU that PyTorch cannot use: install a PyTorch build with CUDA")
    try:
        runner = job.load()
    except Exception as error:  # a user's module may fail in any way
        raise ChildProcessError(f"{here} cannot load the job ({type(error).__name__}: {reason(error)})") from None
    if job.device == CUDA or runner.plan.max_memory is not None:
        return runner
    # as many workers may run here as this machine has processors: each takes its share of one process's memory
    ray = ray_module()
    node = ray.get_runtime_context().get_node_id()
    workers = next(entry["Resources"].get("CPU", 1) for entry in ray.nodes() if entry["NodeID"] == node)
    share = memory_budget(torch.device(CPU), None) / 1e9 / max(1, int(workers))
    return replace(runner, plan=replace(runner.plan, max_memory=share if share < float("inf") else None))


@lru_cache(maxsize=1)
def _renderer(payload: bytes, source: str | None) -> Renderer:
    """Renders samples again, once per process."""
    plan = _runner(payload).plan
    return Renderer.of(plan.dataset, source, plan.scored[0])
