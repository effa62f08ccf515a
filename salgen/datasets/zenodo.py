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
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from salgen.datasets import checksums, citation
from salgen.datasets.archives.files import DIGEST, is_archive, members
from salgen.datasets.archives.unpacking import named
from salgen.datasets.archives.writing import publish
from salgen.datasets.card import card_text
from salgen.datasets.citation import citation_text
from salgen.datasets.frontmatter import front_matter
from salgen.datasets.manifest import Manifest, read_manifest
from salgen.datasets.publication import LICENCES, Publication, stated
from salgen.datasets.verifying import verify
from salgen.datasets.zenodo_requests import Server
from salgen.errors import SalgenError, SalgenWarning
from salgen.generators.opening import plugin_class

SCHEME = "zenodo:"
SANDBOX = "https://sandbox.zenodo.org"
TOKEN = "ZENODO_TOKEN"
DEPOSITIONS = "/api/deposit/depositions"
LONGEST_TOKEN = 4096
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
        If `to` is of no known kind, or there is no token.
    """
    if not to.startswith(SCHEME):
        raise SalgenError(
            f"--to {to.partition(':')[0]!r} is not known: give {SCHEME} (Zenodo's sandbox) or {SCHEME}https://zenodo.org"
        )
    return Server(to.removeprefix(SCHEME).rstrip("/") or SANDBOX, _token(token_file))


def deposit(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    at: Server,
    *,
    licence: str | None,
    date: str | None,
    may_redistribute: bool = False,
    creators: Sequence[str] = (),
    url: str | None = None,
) -> tuple[Path, str]:
    """Write a data set into an archive, and upload it as a draft that is not published.

    An archive that is there already is uploaded as it is, if it is sound and is what would be written: so
    an upload that failed is repeated without writing again.

    Parameters
    ----------
    path, out, licence, date, may_redistribute, creators, url
        As for :func:`~salgen.datasets.archives.writing.publish`.
    at
        Where the draft is made.

    Returns
    -------
    The archive, and the address of the draft.

    Raises
    ------
    SalgenError
        As :func:`~salgen.datasets.archives.writing.publish`; if the archive that is there is not sound or not this
        data set with these statements; or if the server refuses or does not answer.
    """
    publication, target = stated(licence, date, creators, url), Path(out)
    statements: dict[str, Any] = {"licence": licence, "date": date, "creators": creators, "url": url}
    if not is_archive(target):
        publish(path, target, **statements, may_redistribute=may_redistribute)
        described = _described(Path(path), may_redistribute)
    else:
        described = _described(Path(path), may_redistribute)
        _check_archive(target, described, publication)
    return target, _uploaded(target, metadata(described, publication), at)


def metadata(described: Manifest, publication: Publication) -> dict[str, Any]:
    """What Zenodo shows of a data set, as its API takes it.

    Parameters
    ----------
    described
        What is published.
    publication
        What the publisher states. A licence that Zenodo has no name for is in the notes alone, with a warning.
    """
    spec, licence = described.spec, publication.licence
    plugin = plugin_class(spec.generator, imported=described.imported)
    known = licence in LICENCES
    if not known:
        message = f"Zenodo has no name for the licence {licence}: choose it in the draft before you publish it"
        warnings.warn(message, SalgenWarning, stacklevel=2)
    notes = f"Fingerprint (SHA-256 of the data set's description): {spec.fingerprint}"
    return {
        "title": citation.title(described),
        "upload_type": "dataset",
        "description": _as_html(card_text(described, plugin, publication)),
        "creators": [{"name": name} for name in publication.creators or (citation.SALGEN,)],
        **({"license": licence.lower()} if known else {}),
        "publication_date": publication.date,
        "version": f"{spec.generator_version}.0.0",
        "keywords": re.findall(r'^  - "(.*)"$', _tags(front_matter(described, publication)), re.MULTILINE),
        "notes": notes if known else f"{notes}. Licence: {licence}",
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


def _described(folder: Path, may_redistribute: bool) -> Manifest:
    """What an archive of a data set holds."""
    there = read_manifest(folder)
    return replace(there, pixels=there.pixels and (there.redistributable or may_redistribute))


def _check_archive(archive: Path, described: Manifest, publication: Publication) -> None:
    """An archive that is there must be sound, and what would be written."""
    plugin = plugin_class(described.spec.generator, imported=described.imported)
    texts = {
        citation.FILE: citation_text(described, plugin, publication).encode(),
        checksums.CARD: card_text(described, plugin, publication).encode(),
    }
    with named(archive), closing(members(archive)) as found:
        for member in found:
            name = member.name.partition("/")[2]
            if name in texts and b"".join(member.pieces) != texts.pop(name):
                raise SalgenError(f"is there already, and its {name} is not what you state now: remove it")
            if not texts:
                break
    problems = verify(archive, samples=0)
    if not archive.with_name(f"{archive.name}{DIGEST}").is_file():
        problems.append(f"{archive.name}{DIGEST} is missing")
    if texts or problems:
        fault = (problems or [f"it has no {next(iter(texts))}"])[0]
        raise SalgenError(f"{archive} is there already and is not sound: {fault}: remove it")


def _token(token_file: str | os.PathLike[str] | None) -> str:
    """The token, from a file or the environment."""
    if token_file is None:
        token = os.environ.get(TOKEN, "").strip()
        if not token:
            raise SalgenError(f"no token for Zenodo: set {TOKEN}, or name a file that holds it with --token-file")
        return token
    try:
        with open(token_file, "rb") as handle:
            token = handle.read(LONGEST_TOKEN).decode("ascii", "replace").strip()
    except OSError as error:
        raise SalgenError(f"{os.fspath(token_file)} cannot be read: {error.strerror}") from None
    if not token:
        raise SalgenError(f"{os.fspath(token_file)} is empty: it must hold the token for Zenodo")
    return token


def _tags(head: str) -> str:
    """The lines of a card's head that are its tags."""
    return head.partition("\ntags:\n")[2].partition("\nconfigs:")[0]


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
