"""Uploads of archives to Zenodo, as drafts that a person looks at and publishes there.

References
----------
Zenodo, *REST API* (https://developers.zenodo.org): depositions and their files.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from salgen.datasets.archives.archive_formats import DIGEST, is_archive
from salgen.datasets.archives.writing import archive, check_archive
from salgen.datasets.metadata import citation
from salgen.datasets.metadata.publication_metadata import LICENSES, Release
from salgen.datasets.publishing.tokens import check_address, token, without_token
from salgen.errors import SalgenError, readable, warn
from salgen.import_paths import needed
from salgen.progress import Advance, progress

if TYPE_CHECKING:
    from requests import PreparedRequest, Session

SCHEME = "zenodo:"
SANDBOX = "https://sandbox.zenodo.org"
TOKEN = "ZENODO_TOKEN"
DEPOSITIONS = "/api/deposit/depositions"
DESCRIBED_TO = "\n## Splits and labels"  # the rest of the card is for those who have the files
TIMEOUT_S = 60.0
RETRIES = 4


@dataclass(frozen=True)
class Server:
    """The address of a Zenodo, and a token with the right to write there."""

    address: str
    token: str = field(repr=False)


def server(to: str, token_file: str | os.PathLike[str] | None = None) -> Server:
    """The server of ``zenodo:`` (the sandbox) or ``zenodo:https://zenodo.org``.

    The token is that of a file, or of the environment variable ``ZENODO_TOKEN``.
    """
    address = to.removeprefix(SCHEME).rstrip("/") or SANDBOX
    check_address(address, "the server", "https://zenodo.org")
    for package in ("markdown_it", "requests"):
        needed(package, "uploading to Zenodo", "zenodo")
    return Server(address, token("Zenodo", TOKEN, token_file))


def deposit(release: Release, out: str | os.PathLike[str], at: Server) -> tuple[Path, str]:
    """Write a release into an archive, and upload it as a draft; an existing archive must be what would be written."""
    target = Path(out)
    if is_archive(target):
        check_archive(target, release)
    else:
        archive(release.files, target, release.root)
    return target, _upload(target, metadata(release), at)


def metadata(release: Release) -> dict[str, Any]:
    """The metadata of a release, as Zenodo's API takes it.

    A license that Zenodo has no name for is in the notes alone, with a warning.
    """
    from markdown_it import MarkdownIt

    publication = release.publication
    license = publication.license
    has_name = license in LICENSES
    if not has_name:
        warn(f"Zenodo has no name for the license {license}: choose it in the draft before you publish it")
    body = release.card.partition("\n---\n")[2].partition(DESCRIBED_TO)[0]
    _, _, text = body.lstrip().partition("\n")  # without the heading, which is the title
    return {
        "title": release.title,
        "upload_type": "dataset",
        "description": MarkdownIt("commonmark", {"html": False}).enable("table").render(text),
        "creators": [{"name": name} for name in publication.creators or (citation.SALGEN,)],
        **({"license": license.lower()} if has_name else {}),
        "publication_date": publication.date,
        "version": release.version,
        "keywords": list(release.keywords),
        "notes": release.note if has_name else f"{release.note}. License: {license}",
    }


def _upload(archive: Path, values: dict[str, Any], at: Server) -> str:
    """Make a draft of an archive and its digest, and return the draft's address."""
    with _session(at) as session:
        draft = _send(session, at, "POST", f"{at.address}{DEPOSITIONS}", json={})
        with readable(f"{at.address}: the answer names no draft", ": is this a Zenodo server?"):
            number, page, bucket = int(draft["id"]), draft["links"]["html"], draft["links"]["bucket"]
        try:
            if not bucket.startswith(f"{at.address}/"):
                raise SalgenError(f"{at.address} sends the upload to {bucket}: the token is not sent to another server")
            for path in (archive, archive.with_name(f"{archive.name}{DIGEST}")):
                shown = progress(f"uploading {path.name}", path.stat().st_size, "bytes")
                with shown as advance, _ReportingFile(path, advance) as file:
                    _send(session, at, "PUT", f"{bucket}/{quote(path.name)}", data=file)
            _send(session, at, "PUT", f"{at.address}{DEPOSITIONS}/{number}", json={"metadata": values})
        except SalgenError as error:
            raise SalgenError(f"{error} (the draft {page} is incomplete: delete it there)") from None
    return str(page)


def _session(at: Server) -> Session:
    """A session that sends the token, and retries after passing faults (no connection, an overloaded server)."""
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    def authorize(request: PreparedRequest) -> PreparedRequest:
        request.headers["Authorization"] = f"Bearer {at.token}"
        return request

    session = requests.Session()
    session.auth = authorize  # not a header of the session, which a .netrc would replace
    passing = (429, *range(500, 600))
    retry = Retry(RETRIES, allowed_methods=None, status_forcelist=passing, backoff_factor=1, raise_on_status=False)
    session.mount(at.address, HTTPAdapter(max_retries=retry))
    return session


def _send(session: Session, at: Server, method: str, url: str, **body: Any) -> dict[str, Any]:
    """Send a request and return the JSON object of the answer."""
    import requests

    place = f"{at.address}: {method} {url.removeprefix(at.address)}"
    try:
        response = session.request(method, url, timeout=TIMEOUT_S, allow_redirects=False, **body)
        if response.status_code in (200, 201):
            answer: dict[str, Any] = response.json()
            return answer
    except requests.RequestException as error:
        raise SalgenError(without_token(f"{place}: {error}: run the same command again later", at.token)) from None
    said = f": {response.text}" if "json" in response.headers.get("Content-Type", "") else ""
    if response.status_code in (401, 403):
        said += ": the token must be one of this server, with the scope deposit:write"
    raise SalgenError(without_token(f"{place}: status {response.status_code}{said}", at.token))


class _ReportingFile(io.FileIO):
    """A file that reports how many bytes are read of it."""

    def __init__(self, path: Path, advance: Advance) -> None:
        super().__init__(path)
        self._advance = advance

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size) or b""
        self._advance(len(piece))
        return piece
