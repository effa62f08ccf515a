"""Whether a Ray answers at an address."""

from __future__ import annotations

import socket
import subprocess
import sys

from salgen.errors import reason

CONNECT_S, ANSWER_S = 5.0, 15.0  # how long an address may take to be reached, and to answer as a Ray does


def check_address(address: str) -> None:
    """Ask ``ray status`` first, in a process that can be stopped: ``ray.init`` waits minutes for what is no Ray.

    Parameters
    ----------
    address
        ``HOST:PORT``; ``auto`` is left to Ray.

    Raises
    ------
    OSError, ValueError
        If no Ray answers.
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
    asked = [sys.executable, "-P", "-m", "ray.scripts.scripts", "status", "--address", address]
    try:
        subprocess.run(asked, capture_output=True, check=True, timeout=ANSWER_S)
    except subprocess.SubprocessError:
        raise ConnectionError(f"does not answer as a Ray does within {ANSWER_S:g} s") from None
