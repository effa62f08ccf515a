"""What the page on which explanations are rated asks and tells."""

from __future__ import annotations

import hashlib
from importlib import resources
from threading import Lock
from typing import TYPE_CHECKING
from salgen.datasets.annotation.loopback import SAFE, application, check_installed, check_origin, number
from salgen.evaluation.rating.ratings import AGREEMENT_TABLE, QUESTIONS, TABLE, Ratings

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

FILES = {"rate.html": __package__, "rate.js": __package__, "page.css": "salgen.datasets.annotation"}


def rating_page(ratings: Ratings) -> Starlette:
    """The page and its answers, as an ASGI application; it is never told a method's name."""
    check_installed()
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route

    trials, lock = ratings.trials, Lock()
    texts = {name: resources.files(package).joinpath(name).read_bytes() for name, package in FILES.items()}
    key = hashlib.sha256(f"{ratings.folder.resolve()} {trials.seed} {trials.sample_ids}".encode()).hexdigest()[:16]

    def state(request: Request) -> Response:
        with lock:
            given = ratings.answers(request.path_params["rater"])
        images = [
            {
                "label": trials.label(image),
                "answers": [given.get((image, place), {}) for place in range(len(trials.maps))],
            }
            for image in range(len(trials.sample_ids))
        ]
        return JSONResponse({"key": key, "questions": QUESTIONS, "images": images}, headers=SAFE)

    def pictures(request: Request) -> Response:
        rater, image = request.path_params["rater"], number(request, "image", len(trials.sample_ids))
        shown = {"picture": trials.picture(image), "maps": trials.map_pictures(rater, image)}
        return JSONResponse(shown, headers=SAFE)

    async def answer(request: Request) -> Response:
        check_origin(request)
        image = number(request, "image", len(trials.sample_ids))
        position = number(request, "position", len(trials.maps))
        try:
            value = int(await request.body())
        except ValueError:
            raise HTTPException(400, "an answer is a whole number") from None
        await run_in_threadpool(
            keep, request.path_params["rater"], image, position, request.path_params["question"], value
        )
        return Response(status_code=204, headers=SAFE)

    def keep(rater: str, image: int, position: int, question: str, value: int) -> None:
        with lock:
            ratings.answer(rater, image, position, question, value)

    def finish(request: Request) -> Response:
        check_origin(request)
        with lock:
            ratings.finish()
            given = sum(map(len, ratings.answers(request.path_params["rater"]).values()))
        all_of_them = len(trials.sample_ids) * len(trials.maps) * len(QUESTIONS)
        said = (
            f"Thank you: {given} of {all_of_them} questions are answered. All raters' answers are in "
            f"{ratings.folder / TABLE}, their agreement in {ratings.folder / AGREEMENT_TABLE}."
        )
        return PlainTextResponse(said, headers=SAFE)

    routes = [
        Route("/state/{rater}", state),
        Route("/images/{rater}/{image}", pictures),
        Route("/answers/{rater}/{image}/{position}/{question}", answer, methods=["PUT"]),
        Route("/finish/{rater}", finish, methods=["POST"]),
    ]
    return application(routes, "rate.html", texts)
