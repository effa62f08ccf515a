"""Several processes that share work: a pool on this machine, or Ray."""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from salgen.datasets.execution import ray_tasks
from salgen.datasets.execution.executors import Executor
from salgen.datasets.execution.worker import Work
from salgen.datasets.format import manifest
from salgen.datasets.format.shards import DATA, Shard, write_shard
from salgen.errors import SalgenError
from salgen.files import remove_temporaries
from salgen.generators.generator import Generator

Job = tuple[Generator, manifest.Manifest, Path]
WORKER = [sys.executable, "-P", "-m", "salgen.datasets.execution.worker"]
PATIENCE_S = 5.0  # how long a worker may take to remove its temporary files

Worker = subprocess.Popen[bytes]


def write_in_parallel(job: Job, shards: Sequence[Shard], executor: Executor) -> Iterator[Shard]:
    """Write shards in worker processes; yields each when it is done, in any order.

    When the caller stops early, by an exception or Ctrl-C, the workers are stopped first.
    """
    if executor.name == "ray":
        return _write_with_ray(job, shards, executor)
    return (shard for shard, _ in side_by_side(partial(write_shard, *job), shards, executor.processes))


def side_by_side(work: Work, tasks: Sequence[Any], workers: int, threads: int = 1) -> Iterator[tuple[Any, Any]]:
    """Do the work for each task in processes that this one starts; yields each with its value, in any order.

    The first error is raised. Each process has so many `threads` for arithmetic. When the caller stops early, by an
    exception or Ctrl-C, the processes are stopped first.
    """
    payload = pickle.dumps(pickle.dumps(work))
    todo: SimpleQueue[Any] = SimpleQueue()
    done: SimpleQueue[tuple[Any, Any] | Exception] = SimpleQueue()
    for task in tasks:
        todo.put(task)
    processes: list[Worker] = []
    servants: list[threading.Thread] = []
    try:
        for _ in range(min(workers, len(tasks))):
            processes.append(_start(threads))
            servants.append(threading.Thread(target=_serve, args=(processes[-1], payload, todo, done), daemon=True))
            servants[-1].start()
        for _ in tasks:
            outcome = done.get()
            if isinstance(outcome, Exception):
                raise outcome
            yield outcome
    finally:
        _stop(processes, servants)


def _start(threads: int) -> Worker:
    """An interpreter with the same modules in reach, so many threads for arithmetic, and out of Ctrl-C's way."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    limits = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM")}
    return subprocess.Popen(
        WORKER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **limits, "PYTHONPATH": path},
        process_group=0 if os.name == "posix" else None,
    )


def _serve(
    worker: Worker, payload: bytes, todo: SimpleQueue[Any], done: SimpleQueue[tuple[Any, Any] | Exception]
) -> None:
    """Hand tasks to one worker until none is left; runs in a thread of its own."""
    orders, answers = worker.stdin, worker.stdout
    assert orders is not None
    assert answers is not None
    try:
        orders.write(payload)
        while True:
            task = todo.get_nowait()
            pickle.dump(task, orders)
            orders.flush()
            answer = pickle.load(answers)
            done.put(answer.error if isinstance(answer, ray_tasks.Fault) else (task, answer))
    except Empty:
        return
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        code = worker.wait()
        end = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        done.put(ChildProcessError(f"a worker process {end} (out of memory?); use fewer workers"))


def _stop(processes: Sequence[Worker], servants: Sequence[threading.Thread]) -> None:
    """End the workers and wait until they are gone."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for servant in servants:
        servant.join()
    for process in processes:
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # orders that were not sent
                pipe.close()  # type: ignore[union-attr]


def _write_with_ray(job: Job, shards: Sequence[Shard], executor: Executor) -> Iterator[Shard]:
    """As :func:`write_in_parallel`, in tasks of Ray; all machines see the folder under the same path."""
    folder = job[2]
    try:
        with ray_tasks.connected(executor) as ray:
            for shard, _ in ray.outcomes(_ray_task, ray_tasks.pack(job), shards, lambda shard: shard.path):
                ray_tasks.wait_until_seen(folder / shard.path)
                yield shard
    finally:
        remove_temporaries(folder / DATA)  # left by workers that were killed


def _ray_task(payload: bytes, shard: Shard) -> object:
    """Write a shard in a worker of Ray; the value is an error, if any."""
    return ray_tasks.attempt(lambda: write_shard(*_ray_job(payload), shard), shard.path)


@lru_cache(maxsize=1)
def _ray_job(payload: bytes) -> Job:
    """The job, once per worker of Ray, so that its material is prepared once."""
    job: Job = ray_tasks.unpack(payload, "the generator")
    generator, described, folder = job
    ray_tasks.check_shared(folder / manifest.FILE)
    ray_tasks.check_libraries(described.libraries, manifest.installed_libraries(), "would write other bytes")
    try:
        generator.material  # noqa: B018
    except SalgenError as error:  # the caller could prepare it
        raise ChildProcessError(f"{ray_tasks.here()}: {error}") from None
    return job
