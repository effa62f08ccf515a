"""The choice of processes that write shards, or explain and score: of this machine, or of a Ray."""

import os
import socket
from dataclasses import dataclass
from typing import Any
from salgen.errors import SalgenError, reason, unknown_name
from salgen.import_paths import needed

EXECUTORS = ("local", "ray")
CONNECT_S = 5.0  # how long an address may take to be reached
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}  # no usage report, and no line of its logs


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


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ray_module() -> Any:
    """Ray, imported and quiet."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    return needed("ray", "executor = ray", "ray")


def check_address(address: str) -> None:
    """Check that something answers at ``HOST:PORT``: ``ray.init`` would wait for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():
        raise ValueError("must be HOST:PORT, as in 10.0.0.1:6379, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"cannot be reached ({reason(error)})") from None
