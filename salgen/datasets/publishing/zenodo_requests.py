"""Requests to Zenodo's REST API: tried again where a fault may pass, and with a token that nobody gets to see."""

from __future__ import annotations

import hashlib
import json
import re
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from salgen.datasets.publishing.retries import PassingError, asked_wait, insist
from salgen.datasets.publishing.tokens import check_address, check_token, message
from salgen.errors import SalgenError
from salgen.progress import Advance, progress

TIMEOUT_S = 60.0
PIECE = 1 << 20  # bytes of a file held in memory at a time
LARGEST_ANSWER = 1 << 20
SCOPES = "deposit:write"

T = TypeVar("T")


@dataclass(frozen=True)
class Server:
    """A Zenodo, and the token with which one may write there.

    Attributes
    ----------
    address
        ``https://HOST``, or ``http://127.0.0.1:PORT``.
    token
        Sent in a header to this server alone. It is in no message, not even where the server repeats it.
    timeout
        Seconds without an answer after which a connection counts as broken.
    sleep
        Waits between two tries.

    Raises
    ------
    SalgenError
        If the address is not of that form, or the token is not one word.
    """

    address: str
    token: str = field(repr=False)
    timeout: float = TIMEOUT_S
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        check_address(self.address, "the server", "https://zenodo.org")
        if urlsplit(self.address).path:
            raise SalgenError("the server is not an address of the form https://HOST, such as https://zenodo.org")
        check_token(self.token, "Zenodo")

    def send(self, method: str, path: str, value: Any) -> dict[str, Any]:
        """Send a value as JSON, and receive one.

        Raises
        ------
        SalgenError
            If the server refuses, or does not answer.
        """
        body = json.dumps(value).encode()
        return self._insist(
            f"{method} {path}", lambda: self._answer(method, path, "application/json", len(body), iter((body,)))
        )

    def upload(self, url: str, path: Path) -> None:
        """Send a file from disk, as a whole each time, until the server has the bytes that are there.

        Parameters
        ----------
        url
            Where the server said that files go; must be its own.
        path
            The file; it goes there under its own name.

        Raises
        ------
        SalgenError
            If the address is another server's, the server refuses, or what arrived is not what was sent.
        """
        target = f"{self._own_path(url)}/{quote(path.name, safe='')}"
        self._insist(f"uploading {path.name}", lambda: self._sent(target, path))

    def clean(self, text: str) -> str:
        """A text in one line, without the token and not too long."""
        return message(text, self.token)

    def _sent(self, target: str, path: Path) -> None:
        """One try to upload a file."""
        digest = hashlib.md5(usedforsecurity=False)
        size = path.stat().st_size
        with progress(f"uploading {path.name}", size, "bytes") as advance:
            pieces = _pieces(path, size, digest.update, advance)
            answer = self._answer("PUT", target, "application/octet-stream", size, pieces)
        if answer.get("checksum") != f"md5:{digest.hexdigest()}":
            raise PassingError(
                f"arrived with checksum {answer.get('checksum')}, but was sent as md5:{digest.hexdigest()}"
            )

    def _insist(self, what: str, attempt: Callable[[], T]) -> T:
        """Try, and try again while the fault may pass."""

        def named() -> T:
            try:
                return attempt()
            except PassingError as fault:
                raise PassingError(self.clean(f"{self.address}: {what}: {fault}"), fault.wait) from None

        return insist(named, self.sleep)

    def _answer(self, method: str, path: str, kind: str, size: int, pieces: Iterator[bytes]) -> dict[str, Any]:
        """Send one request, and read the answer to it."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind, "Content-Length": str(size)}
        headers |= {"Accept": "application/json", "User-Agent": "salgen"}
        connection, whole = self._connection(), True
        try:
            try:
                connection.request(method, path, body=pieces, headers=headers)
            except (BrokenPipeError, ConnectionResetError):  # it may have said why before it hung up
                whole = False
            response = connection.getresponse()
            data = response.read(LARGEST_ANSWER)
        except ssl.SSLCertVerificationError as error:
            raise SalgenError(self.clean(f"{self.address}: {error.verify_message}: it is not who it says")) from None
        except (OSError, HTTPException) as error:
            raise PassingError(f"the connection broke ({str(error) or type(error).__name__})") from None
        finally:
            connection.close()
        self._check(response.status, response.headers, data, f"{method} {path}")
        if not whole:
            raise PassingError("the connection broke while the file was sent")
        return self._object(data, f"{method} {path}")

    def _check(self, status: int, headers: Message, data: bytes, what: str) -> None:
        """Nothing but success goes on."""
        if 200 <= status < 300:
            return
        said = f"status {status}{_message(data)}"
        if status == 429 or status >= 500:
            raise PassingError(said, asked_wait(headers.get("Retry-After")))
        if status in (401, 403):
            said += f": the token must be one of this server, with the scope {SCOPES}"
        elif 300 <= status < 400:
            said += f": it points to {headers.get('Location')}, and the token is not sent on: give the right server"
        raise SalgenError(self.clean(f"{self.address}: {what}: {said}"))

    def _object(self, data: bytes, what: str) -> dict[str, Any]:
        found = _parsed(data)
        if not isinstance(found, dict):
            raise SalgenError(self.clean(f"{self.address}: {what}: the answer is not one of Zenodo's"))
        return found

    def _own_path(self, url: str) -> str:
        """The path of an address on this very server."""
        path = url.removeprefix(self.address)
        if path == url or not re.fullmatch(r"/[!-~]*", path) or set(path) & set("?#"):
            raise SalgenError(self.clean(f"{self.address} sends the upload to {url}: the token goes to no other place"))
        return path.rstrip("/")

    def _connection(self) -> HTTPConnection:
        parts = urlsplit(self.address)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=self.timeout)


def _pieces(path: Path, size: int, update: Callable[[bytes], None], advance: Advance) -> Iterator[bytes]:
    """The first `size` bytes of a file, which must have no others."""
    left = size
    try:
        with open(path, "rb") as handle:
            while piece := handle.read(PIECE):
                left -= len(piece)
                if left < 0:
                    break
                update(piece)
                yield piece
                advance(len(piece))
    except OSError as error:
        raise SalgenError(f"{path} cannot be read: {error.strerror or error}") from None
    if left:
        raise SalgenError(f"{path} changed while it was sent: nothing else may write to it")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _message(data: bytes) -> str:
    """What Zenodo says of a fault, and of each field that is at fault."""
    found = _parsed(data)
    if not isinstance(found, dict):
        return ""
    errors = found.get("errors")
    fields = [fault for fault in errors if isinstance(fault, dict)] if isinstance(errors, list) else []
    parts = [f"{fault.get('field')}: {fault.get('message', fault.get('messages'))}" for fault in fields]
    said = "; ".join([*([str(found["message"])] if "message" in found else []), *parts])
    return f" ({said})" if said else ""
