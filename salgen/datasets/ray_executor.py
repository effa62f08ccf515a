"""Shards written by the tasks of a Ray, started on this machine or running on a cluster.

A task is one shard, written straight to the data set's folder. A worker that is killed is replaced by
Ray, which runs its task again; what a generator or the disk faults comes back as a value, never as
an error of Ray's.
"""

from __future__ import annotations

import logging
import os
import pickle
import platform
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from salgen.datasets import manifest, worker
from salgen.datasets.executors import processors
from salgen.datasets.shards import DATA, Shard
from salgen.datasets.worker import Job
from salgen.errors import SalgenError, reason
from salgen.files import remove_temporaries

RETRIES = 5  # of a shard whose worker died
UNDER_WAY = 1000  # tasks handed to Ray at a time: more than processors, few enough to look through
OBJECT_STORE = 80 * 2**20  # bytes; little more than what Ray asks for at least, as nothing large is stored
CONNECT_S, ANSWER_S = 5.0, 15.0  # how long an address may take to be reached, and to answer as a Ray does
PATIENCE_S = 5.0  # how long a worker may take to put its files away
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
}  # no report to its makers, no line of its logs


def check_installed() -> None:
    """Refuse where there is no Ray.

    Raises
    ------
    SalgenError
        If it cannot be imported.
    """
    _ray()


def write_with_ray(job: Job, shards: Sequence[Shard], workers: int | None, address: str | None) -> Iterator[Shard]:
    """Write shards as tasks of Ray; yields each when it is done, in any order.

    A Ray that this process is connected to already is used and left running.

    Parameters
    ----------
    job, shards
        What to write; the folder must be the same one for all machines.
    workers
        How many shards at a time; as many as there are processors if None.
    address
        That of a running Ray; None starts one on this machine.

    Raises
    ------
    SalgenError, OSError
        What a task met; ChildProcessError if its workers died too often, or a machine will not do.
    """
    payload = pickle.dumps((_search_path(), pickle.dumps(job)))
    with _connected(workers, address) as ray:
        try:
            yield from _outcomes(ray, payload, shards, workers or UNDER_WAY)
        finally:
            remove_temporaries(job[2] / DATA)  # of workers that were killed


def _outcomes(ray: Any, payload: bytes, shards: Sequence[Shard], at_a_time: int) -> Iterator[Shard]:
    """Run the tasks; those that are left when the caller stops are cancelled."""
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(_write)
    todo = iter(shards)
    running: dict[Any, Shard] = {}
    try:
        while True:
            running.update((task.remote(payload, shard), shard) for shard in islice(todo, at_a_time - len(running)))
            if not running:
                return
            for reference in ray.wait(list(running))[0]:
                _raise_fault(ray, reference, running[reference])
                yield running.pop(reference)
    finally:
        _cancel(ray, list(running))


def _search_path() -> list[str]:
    """Where this process finds modules, a plug-in's among them."""
    return [entry or str(Path.cwd()) for entry in sys.path]


def _raise_fault(ray: Any, reference: Any, shard: Shard) -> None:
    try:
        fault = ray.get(reference)
    except ray.exceptions.RayError as error:
        raise ChildProcessError(f"Ray gave up {shard.path} ({reason(error)})") from None
    if fault is not None:
        raise fault


def _cancel(ray: Any, references: Sequence[Any]) -> None:
    """Stop tasks: by an exception, so that they remove their temporary files, or else by force."""
    if not references:
        return
    for reference in references:
        ray.cancel(reference)
    _, left = ray.wait(references, num_returns=len(references), timeout=PATIENCE_S)
    for reference in left:
        ray.cancel(reference, force=True)


# In a worker of Ray ---------------------------------------------------------------------------------


def _write(payload: bytes, shard: Shard) -> Exception | None:
    """Write a shard; what goes wrong is the value."""
    try:
        job = _job(payload)
    except ChildProcessError as error:
        return error
    return worker._outcome(job, shard)


@lru_cache(maxsize=1)
def _job(payload: bytes) -> Job:
    """The job, once per process, so that its material is prepared once.

    Raises
    ------
    ChildProcessError
        If this machine cannot do it, or would write other bytes than the others.
    """
    here = f"the machine {platform.node()}"
    try:
        search_path, pickled = pickle.loads(payload)
        sys.path += [entry for entry in search_path if entry not in sys.path]
        job: Job = pickle.loads(pickled)
    except Exception as error:  # a plug-in that is not installed there
        raise ChildProcessError(f"{here} cannot load the generator ({type(error).__name__}: {reason(error)})") from None
    generator, described, folder = job
    if not (folder / manifest.FILE).exists():
        raise ChildProcessError(f"{here} does not see this folder: all machines of a cluster must share it")
    installed = manifest.installed_libraries()
    other = {
        name: installed.get(name) for name, version in described.libraries.items() if installed.get(name) != version
    }
    if other:
        has = ", ".join(
            f"{name} {version or 'none'} for {described.libraries[name]}" for name, version in other.items()
        )
        raise ChildProcessError(f"{here} would write other bytes: it has {has}")
    try:
        generator.material  # noqa: B018
    except SalgenError as error:  # the caller could prepare it
        raise ChildProcessError(f"{here}: {error}") from None
    return job


# The connection -------------------------------------------------------------------------------------


def _ray() -> Any:
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise SalgenError(f"executor = ray needs Ray ({reason(error)}): pip install 'salgen[ray]'") from None
    return ray


@contextmanager
def _connected(workers: int | None, address: str | None) -> Iterator[Any]:
    """Ray, connected; what was not connected before is disconnected, what was started here ends.

    Raises
    ------
    SalgenError
        If no Ray can be started, or none is at the address.
    """
    ray = _ray()
    if ray.is_initialized():
        there = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", there):
            raise SalgenError(f"ray_address = {address}: this process is connected to the Ray at {there} already")
        yield ray
        return
    _init(ray, workers, address)
    try:
        yield ray
    finally:
        ray.shutdown()


def _init(ray: Any, workers: int | None, address: str | None) -> None:
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    quiet = {"log_to_driver": False, "configure_logging": False}
    own = {
        "num_cpus": workers or processors(),
        "num_gpus": 0,
        "include_dashboard": False,
        "object_store_memory": OBJECT_STORE,
    }
    try:
        if address is None:
            ray.init("local", **own, **quiet)
        else:
            _check_address(address)
            ray.init(address, **quiet)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        place = "Ray cannot be started here" if address is None else f"ray_address = {address}"
        raise SalgenError(f"{place}: {reason(error)}") from None


def _check_address(address: str) -> None:
    """Knock first, from a process of its own: Ray itself waits minutes for an address that does not answer.

    Raises
    ------
    OSError, ValueError
        If no Ray answers.
    """
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():
        raise ValueError("must be HOST:PORT, as in 10.0.0.1:6379, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"cannot be reached ({reason(error)})") from None
    asked = [sys.executable, "-P", "-m", "ray.scripts.scripts", "status", "--address", address]
    try:
        subprocess.run(asked, capture_output=True, check=True, timeout=ANSWER_S)
    except subprocess.TimeoutExpired:
        raise ConnectionError(f"does not answer as a Ray does within {ANSWER_S:g} s") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").split("\n")
        raise ConnectionError(f"does not answer as a Ray does ({reason(' '.join(said[-2:]))})") from None
