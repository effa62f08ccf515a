"""Talking to a Hugging Face hub through its library, which is kept quiet, patient and discreet meanwhile.

What the library does by itself is changed only where it must be: files go as Git LFS objects, which the hub takes
from any client (with Xet, a second program writes logs and caches in the user's home and makes its own requests);
the token goes to the hub alone; what a server says reaches neither the log nor the screen unless the token is cut out.
"""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from huggingface_hub import HfApi, constants, set_client_factory
from huggingface_hub.errors import HfHubHTTPError
from huggingface_hub.utils import _http
from huggingface_hub.utils._http import parse_ratelimit_headers
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

from salgen.datasets.publishing.retries import PassingError, asked_wait, insist
from salgen.datasets.publishing.tokens import without_token
from salgen.errors import SalgenError, SalgenWarning

if TYPE_CHECKING:
    from salgen.datasets.publishing.hub import Repository

# Telemetry has the library fetch a list of coding agents and keep it in the user's home.
DISABLED = ("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_TELEMETRY")
PASSING = (408, 429)  # and all from 500
BUSY = "another conflicting operation is in progress"  # with 409: the library would ask again at once, for ever
UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
HINTS = {
    401: "the token is not valid: make one with the right to write at {endpoint}/settings/tokens",
    402: "the account there does not pay for this much: see {endpoint}/settings/billing",
    403: "the token must have the right to write, and its owner that to write to {name}",
    404: "is ORG/NAME right, and may the token see it?",
    409: "something else changes the repository: run the same command again later",
    412: "something else changed the repository meanwhile: run the same command again",
    413: "it does not take files that large",
}

T = TypeVar("T")


@contextmanager
def talking(at: Repository) -> Iterator[Conversation]:
    """The library, set up for one repository and as it was afterwards."""
    if constants.is_offline_mode():
        raise SalgenError("HF_HUB_OFFLINE is set, so nothing can be uploaded: unset it")
    with _quiet(at), _own_client(at):
        yield Conversation(at)


class Conversation:
    """Calls of the library, tried again where a fault may pass; its faults become one line each."""

    def __init__(self, at: Repository) -> None:
        self._at = at
        self._api = HfApi(
            endpoint=at.endpoint, token=at.token, library_name="salgen", library_version=version("salgen")
        )

    def __call__(self, what: str, do: Callable[[HfApi], T]) -> T:
        """What `do` returns.

        Raises
        ------
        SalgenError
            If the hub refuses, or does not answer.
        """

        def attempt() -> T:
            try:
                return do(self._api)
            except Exception as error:  # the library does not say which faults it raises
                fault = self._fault(error, what)
            raise fault

        return insist(attempt, self._at.sleep)

    def _fault(self, error: BaseException, what: str) -> Exception:
        """What is to be said of a fault; the library wraps those of its threads."""
        at, found = self._at, _known(error)
        if isinstance(found, SalgenError):
            return SalgenError(at.clean(str(found)))
        place = f"{at.endpoint}: {what}"
        if isinstance(found, PassingError):
            return PassingError(at.clean(f"{place}: {found}"), found.wait)
        if isinstance(found, HfHubHTTPError):
            status = found.response.status_code
            hint = HINTS.get(status, "").format(endpoint=at.endpoint, name=at.name)
            said = f"status {status}{_bracketed(found.server_message)}"
            return SalgenError(at.clean(f"{place}: {said}{': ' if hint else ''}{hint}"))
        if isinstance(found, OSError):
            return SalgenError(at.clean(f"{found.filename or what} cannot be read: {found.strerror or found}"))
        return SalgenError(at.clean(f"{place}: the answer is not one of a hub: {type(error).__name__}: {error}"))


def _known(error: BaseException) -> BaseException | None:
    """The first fault that says what happened, from the outermost to its causes."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, SalgenError | PassingError | OSError):
        found = found.__cause__
    return found


def _bracketed(text: str | None) -> str:
    return f" ({text})" if text else ""


class _Client(httpx2.Client):
    """Sends the token to one server alone, and tells faults that may pass from others."""

    def __init__(self, at: Repository) -> None:
        self._at, self._origin = at, _origin(httpx2.URL(at.endpoint))
        hooks: dict[str, list[Callable[..., None]]] = {
            "request": [self._check_request],
            "response": [self._check_response],
        }
        super().__init__(event_hooks=hooks, follow_redirects=True)

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request, with a limit of time whatever the library asked for."""
        request.extensions = {**request.extensions, "timeout": httpx2.Timeout(self._at.timeout).as_dict()}
        try:
            return super().send(request, **options)
        except httpx2.LocalProtocolError:
            raise SalgenError("a file changed while it was sent: nothing else may write to it") from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            if UNTRUSTED in str(error):
                raise SalgenError(f"{self._at.endpoint}: {error}: it is not who it says") from None
            raise PassingError(f"the connection broke ({str(error) or type(error).__name__})") from None

    def _check_request(self, request: httpx2.Request) -> None:
        if "Authorization" in request.headers and _origin(request.url) != self._origin:
            raise SalgenError(f"{self._at.endpoint} sends us on to {request.url}: the token goes to no other place")

    def _check_response(self, response: httpx2.Response) -> None:
        if response.has_redirect_location and "Authorization" in response.request.headers:
            target = response.url.join(response.headers["Location"])
            if _origin(target) != self._origin:
                raise SalgenError(f"{self._at.endpoint} sends us on to {target}: the token goes to no other place")
        if response.status_code in PASSING or response.status_code >= 500 or response.status_code == 409:
            response.read()
            if response.status_code != 409 or BUSY in response.text:
                raise PassingError(f"status {response.status_code}{_bracketed(_said(response))}", _wait(response))


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _said(response: httpx2.Response) -> str:
    """What a server says of a fault."""
    try:
        found = response.json()
    except ValueError:
        found = None
    said = found.get("error") if isinstance(found, dict) else None
    return str(said or response.headers.get("X-Error-Message", ""))


def _wait(response: httpx2.Response) -> float | None:
    """How many seconds the hub asks to wait."""
    limit = parse_ratelimit_headers(response.headers)
    if response.status_code == 429 and limit is not None and limit.remaining == 0:
        return limit.reset_in_seconds + 1.0
    return asked_wait(response.headers.get("Retry-After"))


@contextmanager
def _own_client(at: Repository) -> Iterator[None]:
    """Have the library send its requests through our client, and none but those that were asked for."""
    factory, before = _http._GLOBAL_CLIENT_FACTORY, {name: getattr(constants, name) for name in DISABLED}
    set_client_factory(lambda: _Client(at))
    vars(constants).update(dict.fromkeys(DISABLED, True))
    try:
        yield
    finally:
        vars(constants).update(before)
        set_client_factory(factory)


@contextmanager
def _quiet(at: Repository) -> Iterator[None]:
    """No bars of the library's own, its warnings in one line each, and a log without the token."""
    bars, factory = not are_progress_bars_disabled(), logging.getLogRecordFactory()
    logging.setLogRecordFactory(lambda *given, **named: _cleaned(factory(*given, **named), at))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            disable_progress_bars()
            yield
    finally:
        if bars:
            enable_progress_bars()
        logging.setLogRecordFactory(factory)
        _pass_on([str(item.message) for item in caught if item.category is UserWarning], at)


def _pass_on(said: list[str], at: Repository) -> None:
    for text in dict.fromkeys(said):
        warnings.warn(at.clean(text), SalgenWarning, stacklevel=2)


def _cleaned(record: logging.LogRecord, at: Repository) -> logging.LogRecord:
    """A line of a log without the token; its text is fixed now, as the token may be in what it is made of."""
    record.msg, record.args = without_token(record.getMessage(), at.token), None
    if record.exc_info:
        record.exc_text = without_token("".join(traceback.format_exception(*record.exc_info)), at.token)
        record.exc_info = None
    return record
