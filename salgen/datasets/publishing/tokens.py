"""Secrets with which one may write to a server: where they are from, where they may go, and that nobody sees them."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import quote, urlsplit

from salgen.errors import SalgenError

LONGEST_TOKEN = 4096
LONGEST_MESSAGE = 500
LOCAL = ("127.0.0.1", "localhost", "::1")
_WORD = re.compile(r"[!-~]+")


def token(server: str, variable: str, file: str | os.PathLike[str] | None = None) -> str:
    """The token for a server.

    Parameters
    ----------
    server
        What the server is called, for messages.
    variable
        The environment variable that holds the token, where no file does.
    file
        A file with the token.

    Raises
    ------
    SalgenError
        If there is none.
    """
    if file is None:
        found = os.environ.get(variable, "").strip()
        if not found:
            raise SalgenError(f"no token for {server}: set {variable}, or name a file that holds it with --token-file")
        return found
    try:
        with open(file, "rb") as handle:
            found = handle.read(LONGEST_TOKEN).decode("ascii", "replace").strip()
    except OSError as error:
        raise SalgenError(f"{os.fspath(file)} cannot be read: {error.strerror}") from None
    if not found:
        raise SalgenError(f"{os.fspath(file)} is empty: it must hold the token for {server}")
    return found


def check_token(secret: str, server: str) -> None:
    """Raise a SalgenError if a token for a server is not one word."""
    if not _WORD.fullmatch(secret):
        raise SalgenError(f"the token for {server} is not one word of visible characters: copy it from there again")


def check_address(address: str, called: str, usual: str) -> None:
    """Whether a token may be sent to an address; what else was written is not repeated, as it may be a secret.

    Parameters
    ----------
    called
        What names the address, for messages.
    usual
        An address as an example.

    Raises
    ------
    SalgenError
        If it is no address, or one that would send the token in the clear to another machine.
    """
    try:
        parts = urlsplit(address)
        sound = bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or set(address) & set("@?#") or not _WORD.fullmatch(address):
        raise SalgenError(f"{called} is not an address of the form https://HOST, such as {usual}")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOCAL):
        raise SalgenError(f"{address} would send the token in the clear: give an address with https://")


def without_token(text: str, secret: str) -> str:
    """A text in which a token, however it is written, is cut out."""
    for written in {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]}:
        text = text.replace(written, "[token]")
    return text


def message(text: str, secret: str) -> str:
    """A text in one line, without the token and not too long."""
    text = without_token(text, secret)
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]}..."
