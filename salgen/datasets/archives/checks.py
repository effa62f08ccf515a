"""Checks that an archive is what `salgen publish` writes, to the last byte; all problems are reported at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from salgen.datasets.archives.archive_formats import DIGEST, TAR, TAR_GZ, entries_of, expanded, form_of, packed
from salgen.datasets.archives.members import Entry, shown
from salgen.datasets.archives.unpacking import Unpacked, extract
from salgen.errors import SalgenError
from salgen.files import sha256_of

LONGEST_DIGEST_FILE = 4096


def archive_problems(archive: Path, check: Callable[[Path], list[str]]) -> list[str]:
    """Check an archive: its digest, its framing, and with `check` the folder that it holds.

    Returns
    -------
    One line for each problem, which names the archive or the file within it.
    """
    problems = _digest_problems(archive)
    with TemporaryDirectory(prefix="salgen-verify-") as place:
        content = Path(place) / "content"
        try:
            found = extract(archive, content, durable=False)
            problems += _framing_problems(archive, content, found)
        except SalgenError as error:
            return [*problems, f"{archive.name}: {error}"]
        except OSError as error:
            raise SalgenError(
                f"{archive} cannot be unpacked to be checked ({error.strerror}): name a folder with room in TMPDIR"
            ) from None
        return problems + [_without(problem, content, archive.name) for problem in check(content)]


def _without(problem: str, content: Path, name: str) -> str:
    """A problem in the archive's terms, without the place it was unpacked to."""
    return problem.replace(f"{content}{os.sep}", "").replace(str(content), name)


def _digest_problems(archive: Path) -> list[str]:
    """Problems with the digest file beside an archive; without one, not every change of a `.tar.gz` shows."""
    beside = archive.with_name(f"{archive.name}{DIGEST}")
    try:
        with open(beside, "rb") as handle:
            text = handle.read(LONGEST_DIGEST_FILE)
    except FileNotFoundError:
        missing = f"{beside.name}: is missing beside the archive; without it not every change of a {TAR_GZ} is found"
        return [missing] if form_of(archive) == TAR_GZ else []
    except OSError as error:
        return [f"{beside.name}: cannot be read ({error.strerror})"]
    found = re.fullmatch(rb"([0-9a-f]{64})  ([^\n]+)\n", text)
    if found is None:
        return [f"{beside.name}: is not a SHA-256, two spaces and a file name"]
    name = found[2].decode("utf-8", "replace")
    named = [] if name == archive.name else [f"{beside.name}: speaks of {shown(name)}, not of {archive.name}"]
    altered = found[1].decode() != sha256_of(archive)
    return named + ([f"{archive.name}: was altered: its SHA-256 is not that of {beside.name}"] if altered else [])


def _framing_problems(archive: Path, content: Path, found: Unpacked) -> list[str]:
    """The first difference between the archive and the one that would be written from its contents, if any."""
    entries = entries_of({name: content / name for name in found.digests}, found.root)
    form, place, where = form_of(archive), 0, [""]

    def watched() -> Iterator[Entry]:
        for entry in entries:
            where[0] = f"of {entry.name.partition('/')[2]}"
            yield entry
        where[0] = "after the last file"

    with expanded(archive) as source:
        for piece in packed(TAR if form == TAR_GZ else form, watched()):
            there = source.read(len(piece))
            if there != piece:
                return [_difference(archive, where[0], place + _first_difference(there, piece))]
            place += len(piece)
        return [f"{archive.name}: the archive has bytes after its end"] if source.read(1) else []


def _first_difference(there: bytes, piece: bytes) -> int:
    same = min(len(there), len(piece))
    return next((place for place in range(same) if there[place] != piece[place]), same)


def _difference(archive: Path, where: str, place: int) -> str:
    return (
        f"{archive.name}: a header or padding {where} (byte {place}) is not what 'salgen publish' writes: "
        "it was altered, or another tool wrote the archive"
    )
