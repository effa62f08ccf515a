"""A method and a model for the tests of Ray that report which worker uses them, and do as they are ordered.

They lie in a file of their own, so that a worker imports nothing of the tests but this.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.methods.gradient import Gradient

ORDERS = "SALGEN_TEST_ORDERS"  # a folder: orders to the workers, and what they report
DRIVER = "SALGEN_TEST_DRIVER"  # the process that hands out the work


@dataclass(frozen=True)
class Watched(Gradient):
    """The gradient, by workers that report themselves and do as they are ordered."""

    name: ClassVar[str] = "watched"
    shares: ClassVar[str | None] = None

    def attribute(self, request: AttributionContext) -> Tensor:
        if ORDERS in os.environ and _is_worker():
            _obey()
        return super().attribute(request)


def network() -> nn.Module:
    """A small network whose weights are always the same; it reports that it was loaded."""
    if ORDERS in os.environ and _is_worker():
        with orders("loaded").open("a") as log:
            log.write(f"{os.getpid()}\n")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64, 2)
        )


def orders(*parts: str) -> Path:
    return Path(os.environ[ORDERS], *parts)


def _is_worker() -> bool:
    return os.environ.get(DRIVER) != str(os.getpid())


def _obey() -> None:
    import ray

    node = ray.get_runtime_context().get_node_id()
    with orders("explained").open("a") as log:
        log.write(f"{node} {os.getpid()} {torch.get_num_threads()}\n")
    if orders("wait").exists():
        time.sleep(0.3)
    if orders("fail").exists():
        raise SalgenError("nothing to see here")
    if orders("no memory").exists():
        raise torch.OutOfMemoryError("CUDA out of memory")
    if orders("die always").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        orders("die").unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
