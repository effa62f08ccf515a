"""How a local server of the tests hangs up."""

import socket


def reset(handler, size):
    """Read half of what comes and hang up with a reset."""
    handler.rfile.read(size // 2)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.connection.close()
    handler.close_connection = True
    handler.wfile = handler.rfile = open("/dev/null", "r+b", buffering=0)  # noqa: SIM115
