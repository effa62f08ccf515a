"""Local servers of the tests, and a way in which they hang up."""

import socket
import threading
from contextlib import contextmanager
from http.server import ThreadingHTTPServer


@contextmanager
def serving(handler, state):
    """A server on this machine whose requests are handled with a state, at its `address`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # a client that hung up
    server.state, server.address = state, f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def reset(handler, size):
    """Read half of what comes and hang up with a reset."""
    handler.rfile.read(size // 2)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.connection.close()
    handler.close_connection = True
    handler.wfile = handler.rfile = open("/dev/null", "r+b", buffering=0)  # noqa: SIM115
