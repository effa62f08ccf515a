"""Several processes that write shards: a pool on this machine, or Ray."""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from queue import Empty, SimpleQueue
from salgen.datasets.execution import ray_tasks
from salgen.datasets.execution.executors import Executor
from salgen.datasets.execution.worker import Job
from salgen.datasets.format import manifest
from salgen.datasets.format.shards import DATA, Shard, write_shard
from salgen.errors import SalgenError
from salgen.files import remove_temporaries

WORKER = [sys.executable, "-P", "-m", "salgen.datasets.execution.worker"]
PATIENCE_S = 5.0  # how long a worker may take to remove its temporary files

Worker = subprocess.Popen[bytes]


def write_in_parallel(job: Job, shards: Sequence[Shard], executor: Executor) -> Iterator[Shard]:
    """Write shards in worker processes; yields each when it is done, in any order.

    When the caller stops early, by an exception or Ctrl-C, the workers are stopped first.
    """
    if executor.name == "ray":
        return _write_with_ray(job, shards, executor)
    return _write_here(job, shards, executor.processes)


def _write_here(job: Job, shards: Sequence[Shard], workers: int) -> Iterator[Shard]:
    """As :func:`write_in_parallel`, in processes that this one starts."""
    payload = pickle.dumps(job)
    todo: SimpleQueue[Shard] = SimpleQueue()
    done: SimpleQueue[Shard | Exception] = SimpleQueue()
    for shard in shards:
        todo.put(shard)
    processes: list[Worker] = []
    threads: list[threading.Thread] = []
    try:
        for _ in range(min(workers, len(shards))):
            processes.append(_start())
            threads.append(threading.Thread(target=_serve, args=(processes[-1], payload, todo, done), daemon=True))
            threads[-1].start()
        for _ in shards:
            outcome = done.get()
            if isinstance(outcome, Exception):
                raise outcome
            yield outcome
    finally:
        _stop(processes, threads)


def _start() -> Worker:
    """An interpreter with the same modules in reach, one thread for arithmetic, and out of Ctrl-C's way."""
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM")}
    return subprocess.Popen(
        WORKER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **threads, "PYTHONPATH": path},
        process_group=0 if os.name == "posix" else None,
    )


def _serve(worker: Worker, payload: bytes, todo: SimpleQueue[Shard], done: SimpleQueue[Shard | Exception]) -> None:
    """Hand shards to one worker until none is left; runs in a thread of its own."""
    orders, answers = worker.stdin, worker.stdout
    assert orders is not None
    assert answers is not None
    try:
        orders.write(payload)
        while True:
            shard = todo.get_nowait()
            pickle.dump(shard, orders)
            orders.flush()
            fault = pickle.load(answers)
            done.put(shard if fault is None else fault.error)
    except Empty:
        return
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        code = worker.wait()
        end = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        done.put(ChildProcessError(f"a worker process {end} (out of memory?); use fewer workers"))


def _stop(processes: Sequence[Worker], threads: Sequence[threading.Thread]) -> None:
    """End the workers and wait until they are gone."""
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for thread in threads:
        thread.join()
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

    def write() -> None:
        generator, described, folder = _ray_job(payload)
        write_shard(generator, described, shard, folder)

    return ray_tasks.attempt(write, shard.path)


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
