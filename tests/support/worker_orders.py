"""Orders to the workers of a test of Ray, and what they report: files of a folder that every process knows."""

import os
import signal
from pathlib import Path

ORDERS = "SALGEN_TEST_ORDERS"  # names the folder
DRIVER = "SALGEN_TEST_DRIVER"  # the process that hands out the work


def orders_path(*parts: str) -> Path:
    return Path(os.environ[ORDERS], *parts)


def is_worker() -> bool:
    return ORDERS in os.environ and os.environ.get(DRIVER) != str(os.getpid())


def die_if_ordered() -> None:
    """Kill this process, if the folder has the file ``die always`` or is the first to take the file ``die``."""
    if not orders_path("die always").exists():
        try:
            orders_path("die").unlink()
        except FileNotFoundError:
            return
    os.kill(os.getpid(), signal.SIGKILL)
