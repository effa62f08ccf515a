"""A server that this machine alone reaches, and to which its own page alone writes."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from salgen.datasets.format.output_folder import sole_writer
from salgen.errors import SalgenError, readable
from salgen.import_paths import needed

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
SAFE = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
MEDIA = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")  # lower case: some file systems take "A" and "a" for one name


def check_name(name: str) -> str:
    """The name of a person, which becomes a file's; a SalgenError if it is not one."""
    if not NAME.fullmatch(name):
        raise SalgenError(
            f"name {name!r}: a name has 1 to 32 of a to z, 0 to 9, - and _, and begins with none of - and _"
        )
    return name


def check_installed() -> None:
    """Raise a SalgenError if the packages of the extra `annotate` are not installed."""
    for package in ("starlette.applications", "uvicorn"):
        needed(package, "a page to draw or rate on", "annotate")


def application(routes: Sequence[Any], page: str, files: Mapping[str, bytes]) -> Starlette:
    """An ASGI application that refuses names made to lead here, and says salgen's errors with status 409.

    Routes that write call :func:`check_origin`; ``/`` gives the one of the `files` that is named `page`.
    """
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

    def file(request: Request) -> Response:
        name = request.path_params.get("name", page)
        if name not in files:
            raise HTTPException(404)
        return Response(files[name], media_type=MEDIA[name[name.rindex(".") :]], headers=SAFE)

    def refused(request: Request, error: Exception) -> Response:
        return PlainTextResponse(str(error), status_code=409, headers=SAFE)

    return Starlette(
        routes=[Route("/", file), *routes, Route("/{name}", file)],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"], www_redirect=False)],
        exception_handlers={SalgenError: refused},
    )


def check_origin(request: Request) -> None:
    """Refuse with status 403 what the server's own page did not send: browsers say where a writing request is from."""
    from starlette.exceptions import HTTPException

    if request.headers.get("origin") != f"http://{request.headers.get('host')}":
        raise HTTPException(403, "only the page of this server may write")


def number(request: Request, name: str, count: int) -> int:
    """The number from 0 to `count` - 1 that a part of the address is; others are refused with status 404."""
    from starlette.exceptions import HTTPException

    text = request.path_params[name]
    if not text.isdecimal() or len(text) > 9 or int(text) >= count:
        raise HTTPException(404, f"{name}: there are {count}")
    return int(text)


def serve(folder: Path, page: Callable[[], Starlette], port: int, purpose: str, kept: Path) -> None:
    """Serve a page on 127.0.0.1 until Ctrl-C, as the sole writer of a folder.

    Print the address after `purpose`, and the folder in which answers are `kept`.
    """
    check_installed()
    import uvicorn

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with readable(f"port {port} cannot be used", ": give another one by --port"):
        listening.bind((HOST, port))
        listening.listen()
    with listening, sole_writer(folder):
        app = page()
        address = f"http://{HOST}:{listening.getsockname()[1]}/"
        print(f"{purpose} at {address}  (Ctrl-C ends it; all is kept in {kept})", flush=True)
        settings = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
        uvicorn.Server(settings).run(sockets=[listening])
