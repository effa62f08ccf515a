"""A generator for the tests of Ray that reports which worker renders, and does as it is ordered.

It lies in a file of its own, so that a worker imports nothing of the tests but this.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from squares import Squares

from salgen.generators.declarations import Edit, Rendered

ORDERS = "SALGEN_TEST_ORDERS"  # a folder: orders to the workers, and what they report
DRIVER = "SALGEN_TEST_DRIVER"  # the process that hands out the work


@dataclass(frozen=True)
class Watched(Squares):
    """Squares that report which worker rendered, and that do as they are ordered."""

    name: ClassVar[str] = "watched"

    def prepare(self, source: Any) -> int:
        if ORDERS in os.environ:
            orders("prepared", str(os.getpid())).touch()
        return super().prepare(source)

    def render(self, parameters: Mapping[str, Any], material: int, edit: Edit) -> Rendered:
        if ORDERS in os.environ and _is_worker():
            _obey()
        return super().render(parameters, material, edit)


def orders(*parts):
    return Path(os.environ[ORDERS], *parts)


def _is_worker():
    return os.environ.get(DRIVER) != str(os.getpid())


def _obey():
    import ray

    node = ray.get_runtime_context().get_node_id()
    orders("rendered", f"{node}-{os.getpid()}").touch()
    if orders("wait").exists():
        time.sleep(0.05)
    if orders("die always").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        orders("die").unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
