"""What the page on which masks are drawn asks and tells."""

from __future__ import annotations

import hashlib
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING
import numpy as np
from salgen.datasets.annotation.annotated_dataset import Annotation
from salgen.datasets.annotation.drawn_masks import version_of
from salgen.datasets.annotation.images_to_annotate import ImageToAnnotate
from salgen.datasets.annotation.loopback import SAFE, application, check_origin, number
from salgen.datasets.format.png import encode
from salgen.datasets.layouts.own_images.upright_pictures import read_picture
from salgen.types import Mask

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

FILES = ("page.html", "page.css", "page.js")


def drawing_page(annotation: Annotation) -> Starlette:
    """The page and its answers, an ASGI application; images have numbers, so no path comes from a browser."""
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route

    images, masks, writing = annotation.pictures.shown, annotation.masks, Lock()
    texts = {name: resources.files(__package__).joinpath(name).read_bytes() for name in FILES}
    key = hashlib.sha256("\n".join([str(annotation.work.resolve()), *(one.item for one in images)]).encode())

    def state(request: Request) -> Response:
        folder = masks.folder_of(request.path_params["annotator"])
        listed = [
            {"name": one.item, "label": one.label, "height": one.size[0], "width": one.size[1],
             "drawn": (folder / f"{one.item}.png").is_file()}
            for one in images
        ]  # fmt: skip
        return JSONResponse({"key": key.hexdigest()[:16], "images": listed}, headers=SAFE)

    def asked(request: Request) -> ImageToAnnotate:
        return images[number(request, "number", len(images))]

    def picture(request: Request) -> Response:
        return Response(encode(read_picture(asked(request).path)), media_type="image/png", headers=SAFE)

    def read(request: Request) -> Response:
        mask = masks.read(request.path_params["annotator"], asked(request).item)
        bits = b"" if mask is None else np.packbits(mask).tobytes()
        return Response(bits, media_type="application/octet-stream", headers={**SAFE, "ETag": f'"{version_of(mask)}"'})

    async def write(request: Request) -> Response:
        check_origin(request)
        masks.folder_of(request.path_params["annotator"])
        image = asked(request)
        pixels = image.size[0] * image.size[1]
        body = await request.body()
        if len(body) != (pixels + 7) // 8:
            raise HTTPException(413, f"a mask of this image has {(pixels + 7) // 8} bytes")
        mask = np.unpackbits(np.frombuffer(body, np.uint8), count=pixels).reshape(image.size).astype(bool)
        return await run_in_threadpool(keep, request, image.item, mask)

    def remove(request: Request) -> Response:
        check_origin(request)
        return keep(request, asked(request).item, None)

    def keep(request: Request, item: str, mask: Mask | None) -> Response:
        annotator, expected = request.path_params["annotator"], request.headers.get("if-match", "").strip('"')
        with writing:
            there = version_of(masks.read(annotator, item))
            if expected not in ("*", there) and there != version_of(mask):
                raise HTTPException(412, "the mask was changed elsewhere")
            if mask is None:
                masks.remove(annotator, item)
            else:
                masks.write(annotator, item, mask)
        return Response(status_code=204, headers={**SAFE, "ETag": f'"{version_of(mask)}"'})

    def finish(request: Request) -> Response:
        check_origin(request)
        with writing:
            return PlainTextResponse(annotation.finish(), headers=SAFE)

    routes = [
        Route("/state/{annotator}", state),
        Route("/images/{number}", picture),
        Route("/masks/{annotator}/{number}", read),
        Route("/masks/{annotator}/{number}", write, methods=["PUT"]),
        Route("/masks/{annotator}/{number}", remove, methods=["DELETE"]),
        Route("/finish", finish, methods=["POST"]),
    ]
    return application(routes, FILES[0], texts)
