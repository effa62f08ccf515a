"""Access tokens: read from a file or the environment, sent to safe addresses only, kept out of messages."""

import json
import os
import re
from pathlib import Path
from urllib.parse import quote
from salgen.errors import SalgenError, readable

_WORD = re.compile(r"[!-~]+")
# No user, password, query or fragment, which may hold a secret; unencrypted only to this machine.
_ADDRESS = re.compile(r"(?:https://[\w.-]+|http://(?:127\.0\.0\.1|localhost|\[::1\]))(?::[0-9]+)?(?:/[\w./-]*)?", re.A)


def token(server: str, variable: str, file: str | os.PathLike[str] | None = None) -> str:
    """The access token for a server, from a file or else from an environment variable."""
    with readable(f"{file} cannot be read"):
        secret = os.environ.get(variable, "") if file is None else Path(file).read_text("ascii", "replace")
    secret = secret.strip()
    if not secret:
        place = "" if file is None else f" in {file}"
        raise SalgenError(f"no token for {server}{place}: set {variable}, or name a file with it by --token-file")
    if not _WORD.fullmatch(secret):
        raise SalgenError(f"the token for {server} is not one word of visible characters: copy it again")
    return secret


def check_address(address: str, name: str, example: str) -> None:
    """Check that a token may be sent to an address: ``https://HOST``, or ``http://`` and this machine."""
    if not _ADDRESS.fullmatch(address):
        form = f"https://HOST, such as {example}; http:// would send the token unencrypted"
        raise SalgenError(f"{name} is not an address of the form {form}")


def without_token(text: str, secret: str) -> str:
    """A text from which a token, plain, URL-encoded or in JSON, is removed."""
    for form in {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]}:
        text = text.replace(form, "[token]")
    return text
