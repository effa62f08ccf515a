"""Tasks of a Ray, started on this machine or running on a cluster: handed out, retried, ended.

A worker that is killed is replaced by Ray, which runs its task again. What goes wrong within a task comes back as
a value, never as an error of Ray's.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from salgen.datasets.execution.executors import Executor
from salgen.datasets.execution.ray_address import check_address
from salgen.datasets.execution.ray_jobs import SHARE, Fault
from salgen.errors import SalgenError, reason

RETRIES = 5  # of a task whose worker died
UNDER_WAY = 1000  # tasks handed to Ray at a time: more than processors, few enough to look through
OBJECT_STORE = 80 * 2**20  # bytes; little more than what Ray asks for at least, as nothing large is stored
SEEN_S = 60.0  # how long a share may take to show what another machine wrote; NFS takes half of it
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
}  # no report to its makers, no line of its logs

Task = Callable[[bytes, Any], Any]


def ray_module() -> Any:
    """Ray, imported and quiet.

    Raises
    ------
    SalgenError
        If it cannot be imported.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise SalgenError(f"executor = ray needs Ray ({reason(error)}): pip install 'salgen[ray]'") from None
    return ray


@dataclass(frozen=True)
class Connection:
    """A Ray to which this process is connected.

    Attributes
    ----------
    ray
        The module.
    at_a_time
        How many tasks are handed to it at most.
    ours
        Whether it was made for this work, and ends with it, and all tasks with it.
    """

    ray: Any
    at_a_time: int
    ours: bool = True

    @property
    def gpus(self) -> int:
        """How many its machines have in all."""
        return int(self.ray.cluster_resources().get("GPU", 0))

    def outcomes(
        self, task: Task, payload: bytes, orders: Iterable[Any], called: Callable[[Any], str], *, gpus: int = 0
    ) -> Iterator[tuple[Any, Any]]:
        """Run a task for each order; yields the orders with their values, in any order.

        When the caller stops, those that are under way end with the connection, or are waited for where it stays. None
        is cancelled: Ray 2.60 aborts this process where that meets a worker's answer.

        Parameters
        ----------
        task
            A function of a module, which takes the payload and an order. Where its value is a
            :class:`~salgen.datasets.execution.ray_jobs.Fault`, that is raised.
        payload
            What :func:`~salgen.datasets.execution.ray_jobs.pack` gave.
        called
            What a message calls an order.
        gpus
            What each task takes beside a processor.

        Raises
        ------
        ChildProcessError
            If the workers of an order died too often.
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
                    value = self._value(reference, called(running[reference]))
                    yield running.pop(reference), value
        finally:
            if running and not self.ours:
                self.ray.wait(list(running), num_returns=len(running))

    def _value(self, reference: Any, called: str) -> Any:
        try:
            value = self.ray.get(reference)
        except self.ray.exceptions.RayError as error:
            raise ChildProcessError(f"Ray gave up {called} ({reason(error)})") from None
        if isinstance(value, Fault):
            raise value.error
        return value


@contextmanager
def connected(executor: Executor, *, gpus: int = 0) -> Iterator[Connection]:
    """A Ray that runs, or one that is started here; what was not connected before is disconnected at the end.

    Parameters
    ----------
    executor
        Says which, and how many processors one that is started here has.
    gpus
        How many GPUs one that is started here has.

    Raises
    ------
    SalgenError
        If no Ray can be started, or none is at the address.
    """
    ray, address = ray_module(), executor.address
    if ray.is_initialized():
        there = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", there):
            raise SalgenError(f"ray_address = {address}: this process is connected to the Ray at {there} already")
        processors = int(ray.cluster_resources().get("CPU", 1))
        yield Connection(ray, executor.workers or max(1, processors), ours=False)
        return
    _init(ray, executor, gpus)
    try:
        yield Connection(ray, executor.workers or UNDER_WAY)
    finally:
        ray.shutdown()


def _init(ray: Any, executor: Executor, gpus: int) -> None:
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    quiet = {"log_to_driver": False, "configure_logging": False}
    own = {
        "num_cpus": executor.processes,
        "num_gpus": gpus,
        "include_dashboard": False,
        "object_store_memory": OBJECT_STORE,
    }
    address = executor.address
    try:
        if address is None:
            ray.init("local", **own, **quiet)
        else:
            check_address(address)
            ray.init(address, **quiet)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        place = "Ray cannot be started here" if address is None else f"ray_address = {address}"
        raise SalgenError(f"{place}: {reason(error)}") from None


def wait_until_seen(path: Path) -> None:
    """Wait for a file that another machine wrote: a network share may show it late.

    Raises
    ------
    ChildProcessError
        If it is not there after a minute.
    """
    deadline = time.monotonic() + SEEN_S
    while not path.exists():
        if time.monotonic() > deadline:
            raise ChildProcessError(f"{path} was written by another machine and is not here: {SHARE}")
        os.listdir(path.parent)  # noqa: PTH208  # makes the share look again
        time.sleep(0.1)
