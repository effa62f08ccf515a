"""The server of the page on which masks are drawn: this machine alone reaches it, and its own page alone writes."""

from __future__ import annotations

import hashlib
import socket
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from salgen.datasets.annotation.annotated_dataset import Annotation
from salgen.datasets.annotation.drawn_masks import version_of
from salgen.datasets.format.png import encode
from salgen.datasets.importers.layouts.own_images.upright_pictures import read_picture
from salgen.errors import SalgenError, install
from salgen.types import Mask

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
HOSTS = (HOST, "localhost")
FILES = {"page.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}
SAFE = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def serve(annotation: Annotation, port: int) -> None:
    """Serve the page on 127.0.0.1 until Ctrl-C, and print its address.

    Raises
    ------
    SalgenError
        If the port is taken, or the packages of the extra `annotate` are not installed.
    """
    app = application(annotation)
    import uvicorn

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        raise SalgenError(f"port {port} cannot be used ({error.strerror}): give another one by --port") from None
    print(f"draw at http://{HOST}:{listening.getsockname()[1]}/  (Ctrl-C ends it; every stroke is kept)", flush=True)
    settings = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
    uvicorn.Server(settings).run(sockets=[listening])


def application(annotation: Annotation) -> Starlette:
    """The pages and answers of the server, as an ASGI application.

    Images are named by their numbers, so no path comes from the browser. Writing asks for an `Origin` that is the
    server itself, which a page of another origin cannot send, and for a `Host` of this machine, so that a name that
    was made to lead here is refused.

    Raises
    ------
    SalgenError
        If Starlette or uvicorn is not installed.
    """
    try:
        import uvicorn  # noqa: F401
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.exceptions import HTTPException
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.responses import JSONResponse, PlainTextResponse, Response
        from starlette.routing import Route
    except ImportError as error:
        raise SalgenError(f"drawing masks needs {error.name}: {install('annotate')}") from None
    images, masks, writing = annotation.pictures.images, annotation.masks, Lock()
    texts = {name: resources.files(__package__).joinpath(name).read_bytes() for name in FILES}
    key = hashlib.sha256("\n".join([str(annotation.work.resolve()), *(one.item for one in images)]).encode())

    def page(request: Request) -> Response:
        name = request.path_params.get("name", "page.html")
        if name not in FILES:
            raise HTTPException(404)
        return Response(texts[name], media_type=FILES[name], headers=SAFE)

    def state(request: Request) -> Response:
        folder = masks.folder_of(request.path_params["annotator"])
        listed = [
            {"name": one.item, "label": one.label, "height": one.size[0], "width": one.size[1],
             "drawn": (folder / f"{one.item}.png").is_file()}
            for one in images
        ]  # fmt: skip
        return JSONResponse({"key": key.hexdigest()[:16], "images": listed}, headers=SAFE)

    def number(request: Request) -> int:
        index = int(request.path_params["number"])
        if index >= len(images):
            raise HTTPException(404, f"there are {len(images)} images")
        return index

    def picture(request: Request) -> Response:
        return Response(encode(read_picture(images[number(request)].path)), media_type="image/png", headers=SAFE)

    def read(request: Request) -> Response:
        mask = masks.read(request.path_params["annotator"], images[number(request)].item)
        bits = b"" if mask is None else np.packbits(mask).tobytes()
        return Response(bits, media_type="application/octet-stream", headers={**SAFE, "ETag": f'"{version_of(mask)}"'})

    async def write(request: Request) -> Response:
        own_page(request)
        annotator, image = request.path_params["annotator"], images[number(request)]
        masks.folder_of(annotator)
        pixels = image.size[0] * image.size[1]
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > (pixels + 7) // 8:
                break
        if len(body) != (pixels + 7) // 8:
            raise HTTPException(413, f"a mask of this image has {(pixels + 7) // 8} bytes")
        mask = np.unpackbits(np.frombuffer(body, np.uint8), count=pixels).reshape(image.size).astype(bool)
        expected = request.headers.get("if-match", "").strip('"')
        if not await run_in_threadpool(keep, annotator, image.item, mask, expected):
            raise HTTPException(412, "the mask was changed elsewhere")
        return Response(status_code=204, headers={**SAFE, "ETag": f'"{version_of(mask)}"'})

    def keep(annotator: str, item: str, mask: Mask, expected: str) -> bool:
        with writing:
            there = version_of(masks.read(annotator, item))
            if expected not in ("*", there) and there != version_of(mask):
                return False
            masks.write(annotator, item, mask)
        return True

    def finish(request: Request) -> Response:
        own_page(request)
        with writing:
            return PlainTextResponse(annotation.finish(), headers=SAFE)

    def own_page(request: Request) -> None:
        if request.headers.get("origin") != f"http://{request.headers.get('host')}":
            raise HTTPException(403, "only the page of this server may write")

    def refused(request: Request, error: Exception) -> Response:
        return PlainTextResponse(str(error), status_code=409, headers=SAFE)

    return Starlette(
        routes=[
            Route("/", page),
            Route("/state/{annotator}", state),
            Route("/images/{number:int}", picture),
            Route("/masks/{annotator}/{number:int}", read),
            Route("/masks/{annotator}/{number:int}", write, methods=["PUT"]),
            Route("/finish", finish, methods=["POST"]),
            Route("/{name}", page),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False)],
        exception_handlers={SalgenError: refused},
    )
