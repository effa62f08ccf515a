"""A published archive as a draft on Zenodo; a person looks at it there and publishes it.

References
----------
Zenodo, *REST API* (https://developers.zenodo.org): depositions and their files.
"""

from __future__ import annotations

import html
import os
import re
import warnings
from pathlib import Path
from typing import Any

from salgen.datasets.archives.files import DIGEST, is_archive
from salgen.datasets.archives.writing import archive, check_archive
from salgen.datasets.metadata import citation
from salgen.datasets.metadata.publication_metadata import LICENCES
from salgen.datasets.metadata.release import Release
from salgen.datasets.publishing.tokens import token
from salgen.datasets.publishing.zenodo_requests import Server
from salgen.errors import SalgenError, SalgenWarning

SCHEME = "zenodo:"
SANDBOX = "https://sandbox.zenodo.org"
TOKEN = "ZENODO_TOKEN"
DEPOSITIONS = "/api/deposit/depositions"
DESCRIBED_TO = "\n## Splits and labels"  # what follows in the card is for those who have the files


def server(to: str, token_file: str | os.PathLike[str] | None = None) -> Server:
    """Where to upload, with the token from a file or the environment.

    Parameters
    ----------
    to
        ``zenodo:`` (the sandbox) or ``zenodo:https://zenodo.org``.
    token_file
        A file with the token; otherwise it is that of the environment variable ``ZENODO_TOKEN``.

    Raises
    ------
    SalgenError
        If the address is none, or there is no token.
    """
    return Server(to.removeprefix(SCHEME).rstrip("/") or SANDBOX, token("Zenodo", TOKEN, token_file))


def deposit(edition: Release, out: str | os.PathLike[str], at: Server) -> tuple[Path, str]:
    """Write what is published into an archive, and upload it as a draft that is not published.

    An archive that is there already is uploaded, if it is to the byte what would be written: so an upload
    that failed is repeated.

    Parameters
    ----------
    edition
        What is published.
    out
        The archive, as for :func:`~salgen.datasets.archives.writing.archive`.
    at
        Where the draft is made.

    Returns
    -------
    The archive, and the address of the draft.

    Raises
    ------
    SalgenError
        As :func:`~salgen.datasets.archives.writing.archive`; if the archive that is there is not what would be
        written; or if the server refuses or does not answer.
    """
    target = Path(out)
    if is_archive(target):
        check_archive(target, edition)
    else:
        archive(edition.files, target, edition.root)
    return target, _uploaded(target, metadata(edition), at)


def metadata(edition: Release) -> dict[str, Any]:
    """What Zenodo shows of what is published, as its API takes it.

    A licence that Zenodo has no name for is in the notes alone, with a warning.
    """
    publication = edition.publication
    licence = publication.licence
    known = licence in LICENCES
    if not known:
        message = f"Zenodo has no name for the licence {licence}: choose it in the draft before you publish it"
        warnings.warn(message, SalgenWarning, stacklevel=2)
    return {
        "title": edition.title,
        "upload_type": "dataset",
        "description": _as_html(edition.card),
        "creators": [{"name": name} for name in publication.creators or (citation.SALGEN,)],
        **({"license": licence.lower()} if known else {}),
        "publication_date": publication.date,
        "version": edition.version,
        "keywords": list(edition.keywords),
        "notes": edition.note if known else f"{edition.note}. Licence: {licence}",
    }


def _uploaded(archive: Path, values: dict[str, Any], at: Server) -> str:
    """Make a draft of an archive, and say where it is."""
    draft = at.send("POST", DEPOSITIONS, {})
    links = draft.get("links")
    number, links = str(draft.get("id")), links if isinstance(links, dict) else {}
    if not re.fullmatch(r"[0-9]+", number) or not isinstance(links.get("bucket"), str):
        raise SalgenError(f"{at.address}: the answer names no draft: is this a Zenodo?")
    page = at.clean(str(links.get("html", f"{at.address}/deposit/{number}")))
    try:
        for file in (archive, archive.with_name(f"{archive.name}{DIGEST}")):
            at.upload(links["bucket"], file)
        at.send("PUT", f"{DEPOSITIONS}/{number}", {"metadata": values})
    except SalgenError as error:
        raise SalgenError(f"{error} (the draft {page} is not complete: delete it there)") from None
    return page


def _as_html(card: str) -> str:
    """What a card says of the data set, up to the tables, in the HTML that Zenodo shows."""
    text = card.partition("\n---\n")[2].partition(DESCRIBED_TO)[0]
    text = re.sub(r"^(\S.*)\n[-=]{3,}$", r"## \1\n", text, flags=re.MULTILINE)
    blocks = [block for block in re.split(r"\n\s*\n", text.strip("\n")) if not block.startswith("# ")]
    return "\n".join(map(_block, blocks))


def _block(block: str) -> str:
    """A heading, list, piece of code or paragraph."""
    if block.startswith("    "):
        return f"<pre>{html.escape(block, quote=False)}</pre>"
    text = re.sub(r"`+([^`]+)`+", r"<code>\1</code>", html.escape(block.strip(), quote=False))
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    if text.startswith("## "):
        return f"<h2>{text[3:]}</h2>"
    if text.startswith("- "):
        return f"<ul>{''.join(f'<li>{item}</li>' for item in text[2:].split(chr(10) + '- '))}</ul>"
    return f"<p>{text}</p>"
