"""Local servers of the tests, which fail as a test plans it."""

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class State:
    """What a server was asked, and what a test wants to go wrong."""

    def __init__(self):
        self.seen, self.headers, self.plans = [], [], {}
        self.lock = threading.RLock()

    def plan(self, kind, *faults):
        """Answers to the next requests of a kind; None is the usual one."""
        self.plans[kind] = list(faults)

    def kinds(self):
        return [kind for kind, _, _ in self.seen]


class Handler(BaseHTTPRequestHandler):
    """First what the test planned for a request, then the usual answer; `kind` and `usual` are the server's own."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self):
        state, size = self.server.state, int(self.headers["Content-Length"] or 0)
        kind = self.kind()
        with state.lock:
            state.seen.append((kind, self.command, self.path))
            state.headers.append(dict(self.headers))
            plan = state.plans.get(kind, [])
            fault = plan.pop(0) if plan else None
        if callable(fault):
            fault = fault(self, size)
            if fault is None:
                return
        body = self.rfile.read(size)
        if len(body) < size:
            self.close_connection = True
            return
        if fault is None:
            with state.lock:
                fault = self.usual(body)
        self.reply(*fault)

    do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815

    def reply(self, status, value, headers):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        kind = "text/html" if isinstance(value, bytes) else "application/json"
        self.send_response(status)
        for name, text in {"Content-Length": str(len(data)), "Content-Type": kind, **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_):
        pass


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
