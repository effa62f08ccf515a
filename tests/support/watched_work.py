"""A method and a model for the tests of Ray that report which worker uses them, and do as they are ordered.

They lie in a file of their own, so that a worker imports little of the tests.
"""

import os
import time
from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor, nn
from worker_orders import die_if_ordered, is_worker, orders_path
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.methods.gradient import Gradient


@dataclass(frozen=True)
class Watched(Gradient):
    """The gradient, by workers that report themselves and do as they are ordered."""

    name: ClassVar[str] = "watched"
    shares: ClassVar[str | None] = None

    def attribute(self, request: AttributionContext) -> Tensor:
        if is_worker():
            _obey()
        return super().attribute(request)


def network() -> nn.Module:
    """A small network whose weights are always the same; it reports that it was loaded."""
    if is_worker():
        with orders_path("loaded").open("a") as log:
            log.write(f"{os.getpid()}\n")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64, 2)
        )


def _obey() -> None:
    import ray

    node = ray.get_runtime_context().get_node_id()
    with orders_path("explained").open("a") as log:
        log.write(f"{node} {os.getpid()} {torch.get_num_threads()}\n")
    if orders_path("wait").exists():
        time.sleep(0.3)
    if orders_path("fail").exists():
        raise SalgenError("nothing to see here")
    if orders_path("no memory").exists():
        raise torch.OutOfMemoryError("CUDA out of memory")
    die_if_ordered()
