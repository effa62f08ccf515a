"""The choice of processes that write shards, or explain and score."""

import os
from dataclasses import dataclass

from salgen.datasets.execution.ray_setup import ray_module
from salgen.errors import SalgenError, unknown_name

EXECUTORS = ("local", "ray")


@dataclass(frozen=True)
class Executor:
    """Processes of this machine, or those of a Ray."""

    name: str = "local"  # one of `EXECUTORS`
    workers: int | None = None  # number of processes; None for one per processor
    address: str | None = None  # address of a running Ray; None starts one on this machine

    def __post_init__(self) -> None:
        if self.name not in EXECUTORS:
            raise unknown_name("executor", self.name, EXECUTORS)
        if self.workers is not None and self.workers < 1:
            raise SalgenError(f"workers = {self.workers}: must be 1 or more")
        if self.address is not None and self.name != "ray":
            raise SalgenError(f"ray_address = {self.address}: needs executor = ray, but it is {self.name}")
        if self.address is not None and self.workers is not None:
            raise SalgenError(f"workers = {self.workers}: a running Ray has workers of its own; leave workers out")
        if self.name == "ray":
            ray_module()

    @property
    def processes(self) -> int:
        """Number of processes on this machine."""
        return processors() if self.workers is None else self.workers

    def is_alone(self, shards: int) -> bool:
        """True if the caller's own process does as well."""
        return self.name == "local" and min(self.processes, shards) < 2


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
