"""Import of Ray, and the check that one answers at an address."""

import os
import socket
import subprocess
import sys
from typing import Any

from salgen.errors import SalgenError, install, reason

CONNECT_S, ANSWER_S = 5.0, 15.0  # how long an address may take to be reached, and to answer as a Ray does
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}  # no usage report, and no line of its logs


def ray_module() -> Any:
    """Ray, imported and quiet."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise SalgenError(f"executor = ray needs Ray ({reason(error)}): {install('ray')}") from None
    return ray


def check_address(address: str) -> None:
    """Check that a Ray answers, by ``ray status`` in a process that can be stopped; ``ray.init`` waits for minutes.

    Parameters
    ----------
    address
        ``HOST:PORT``; ``auto`` is left to Ray.
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
    command = [sys.executable, "-P", "-m", "ray.scripts.scripts", "status", "--address", address]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=ANSWER_S)
    except subprocess.SubprocessError:
        raise ConnectionError(f"does not answer as a Ray does within {ANSWER_S:g} s") from None
