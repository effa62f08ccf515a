"""Secrets with which one may write to a server: read from the environment or a file, and shown nowhere."""

from __future__ import annotations

import os

from salgen.errors import SalgenError

LONGEST_TOKEN = 4096


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
