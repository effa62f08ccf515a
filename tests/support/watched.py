"""A generator for the tests of Ray that reports which worker renders, and does as it is ordered.

It lies in a file of its own, so that a worker imports little of the tests.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from squares import Squares
from worker_orders import ORDERS, die_if_ordered, is_worker, orders_path
from salgen.generators.interfaces import Edit, Rendered


@dataclass(frozen=True)
class Watched(Squares):
    """Squares that report which worker rendered, and that do as they are ordered."""

    name: ClassVar[str] = "watched"

    def prepare(self, source: Any) -> int:
        if ORDERS in os.environ:
            orders_path("prepared", str(os.getpid())).touch()
        return super().prepare(source)

    def render(self, parameters: Mapping[str, Any], material: int, edit: Edit) -> Rendered:
        if is_worker():
            _obey()
        return super().render(parameters, material, edit)


def _obey():
    import ray

    node = ray.get_runtime_context().get_node_id()
    orders_path("rendered", f"{node}-{os.getpid()}").touch()
    if orders_path("wait").exists():
        time.sleep(0.05)
    die_if_ordered()
