"""Tasks of a Ray, started on this machine or running on a cluster: handed out, retried, ended.

Ray replaces a worker that is killed, and runs its task again. An error within a task comes back as a value, never as
an error of Ray's.
"""

import logging
import os
import pickle
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from salgen.datasets.execution.executors import Executor, check_address, ray_module
from salgen.errors import SalgenError, reason

RETRIES = 5  # tries of a task whose worker died
UNDER_WAY = 1000  # tasks handed to Ray at a time: more than processors, few enough to look through
OBJECT_STORE = 80 * 2**20  # bytes; little more than what Ray asks for at least, as nothing large is stored
SEEN_S = 60.0  # how long a share may take to show what another machine wrote; NFS takes half of it
SHARE = "all machines of a cluster must share the folder, under one path"
Task = Callable[[bytes, Any], Any]


@dataclass(frozen=True)
class Fault:
    """The error of a task."""

    error: Exception


@dataclass(frozen=True)
class Connection:
    """A Ray to which this process is connected."""

    ray: Any  # the module `ray`
    at_a_time: int  # the largest number of tasks handed to it at once
    ours: bool = True  # true if it was made for this work, and ends with it and with all tasks

    @property
    def gpus(self) -> int:
        """Number of GPUs of all its machines."""
        return int(self.ray.cluster_resources().get("GPU", 0))

    def outcomes(
        self, task: Task, payload: bytes, orders: Iterable[Any], called: Callable[[Any], str], *, gpus: int = 0
    ) -> Iterator[tuple[Any, Any]]:
        """Run a task for each order; yields orders with values, in any order, or raises the error of a :class:`Fault`.

        `called` names an order in messages. When the caller stops, no task is cancelled: Ray 2.60 aborts this process
        where that meets a worker's answer.
        """
        remote = self.ray.remote(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)(task)
        stored, todo = self.ray.put(payload), iter(orders)
        running: dict[Any, Any] = {}
        try:
            while True:
                room = self.at_a_time - len(running)
                running.update((remote.remote(stored, order), order) for order in islice(todo, room))
                if not running:
                    return
                for reference in self.ray.wait(list(running))[0]:
                    order = running[reference]
                    try:
                        value = self.ray.get(reference)
                    except self.ray.exceptions.RayError as error:
                        raise ChildProcessError(f"Ray gave up {called(order)} ({reason(error)})") from None
                    if isinstance(value, Fault):
                        raise value.error
                    del running[reference]
                    yield order, value
        finally:
            if running and not self.ours:
                self.ray.wait(list(running), num_returns=len(running))


@contextmanager
def connected(executor: Executor, *, gpus: int = 0) -> Iterator[Connection]:
    """Connect to a running Ray, or start one here with so many GPUs; a new connection is closed at the end."""
    ray, address = ray_module(), executor.address
    if ray.is_initialized():
        current = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", current):
            raise SalgenError(f"ray_address = {address}: this process is connected to the Ray at {current} already")
        processors = int(ray.cluster_resources().get("CPU", 1))
        yield Connection(ray, executor.workers or max(1, processors), ours=False)
        return
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    quiet = {"log_to_driver": False, "configure_logging": False}
    own = {"num_cpus": executor.processes, "num_gpus": gpus, "object_store_memory": OBJECT_STORE}
    try:
        if address is None:
            ray.init("local", include_dashboard=False, **own, **quiet)
        else:
            check_address(address)
            ray.init(address, **quiet)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        place = "Ray cannot be started here" if address is None else f"ray_address = {address}"
        raise SalgenError(f"{place}: {reason(error)}") from None
    try:
        yield Connection(ray, executor.workers or UNDER_WAY)
    finally:
        ray.shutdown()


def wait_until_seen(path: Path) -> None:
    """Wait for a file that another machine wrote: a network share may show it late."""
    deadline = time.monotonic() + SEEN_S
    while not path.exists():
        if time.monotonic() > deadline:
            raise ChildProcessError(f"{path} was written by another machine and is not here: {SHARE}")
        os.listdir(path.parent)  # noqa: PTH208  # makes the share look again
        time.sleep(0.1)


def pack(job: Any) -> bytes:
    """The payload of all tasks: a job, and the folders where this process finds modules, a plug-in's among them."""
    search_path = [entry or str(Path.cwd()) for entry in sys.path]
    return pickle.dumps((search_path, pickle.dumps(job)))


def here() -> str:
    """Name of this worker's machine in messages."""
    return f"the machine {platform.node()}"


def attempt(work: Callable[[], Any], called: str) -> Any:
    """The value of `work`, or a :class:`Fault`: errors that end a local run with one line stay as they are."""
    try:
        return work()
    except (SalgenError, OSError, MemoryError) as error:
        return Fault(error)
    except Exception:
        return Fault(RuntimeError(f"{called}:\n{traceback.format_exc()}"))


def unpack(payload: bytes, name: str) -> Any:
    """The job of a payload; messages call it `name`."""
    try:
        search_path, job = pickle.loads(payload)
        sys.path += [entry for entry in search_path if entry not in sys.path]
        return pickle.loads(job)
    except Exception as error:  # a plug-in that is not installed there
        raise ChildProcessError(f"{here()} cannot load {name} ({type(error).__name__}: {reason(error)})") from None


def check_libraries(wanted: Mapping[str, str], installed: Mapping[str, str], consequence: str) -> None:
    """Raise a ChildProcessError if a library has another version here than where the work comes from."""
    has = [f"{name} {installed.get(name) or 'none'} for {w}" for name, w in wanted.items() if installed.get(name) != w]
    if has:
        raise ChildProcessError(f"{here()} {consequence}: it has {', '.join(has)}")


def check_shared(path: Path) -> None:
    """Raise a ChildProcessError if this machine does not see a file or folder of the caller's."""
    if not path.exists():
        raise ChildProcessError(f"{here()} does not see {path}: {SHARE}")
