"""Checks that an archive is what `salgen publish` writes, to the last byte; all problems are reported at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from salgen.datasets.archives.archive_formats import DIGEST, TAR, TAR_GZ, entries_of, expanded, form_of, packed
from salgen.datasets.archives.members import Entry, quoted
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
            problems += _framing_problems(archive, content, extract(archive, content, durable=False))
        except SalgenError as error:
            return [*problems, f"{archive.name}: {error}"]
        except OSError as error:
            raise SalgenError(
                f"{archive} cannot be unpacked to be checked ({error.strerror}): set TMPDIR to a folder with room"
            ) from None
        # A problem is told in the archive's terms, without the folder that it was unpacked to.
        return problems + [
            problem.replace(f"{content}{os.sep}", "").replace(str(content), archive.name) for problem in check(content)
        ]


def _digest_problems(archive: Path) -> list[str]:
    """Problems with the digest file beside an archive; without one, not every change of a `.tar.gz` shows."""
    beside = archive.with_name(f"{archive.name}{DIGEST}")
    try:
        with open(beside, "rb") as handle:
            text = handle.read(LONGEST_DIGEST_FILE)
    except FileNotFoundError:
        missing = f"{beside.name}: is missing beside the archive; without it some changes of a {TAR_GZ} are not found"
        return [missing] if form_of(archive) == TAR_GZ else []
    except OSError as error:
        return [f"{beside.name}: cannot be read ({error.strerror})"]
    line = re.fullmatch(rb"([0-9a-f]{64})  ([^\n]+)\n", text)
    if line is None:
        return [f"{beside.name}: is not a SHA-256, two spaces and a file name"]
    name = line[2].decode("utf-8", "replace")
    named = [] if name == archive.name else [f"{beside.name}: is about {quoted(name)}, not of {archive.name}"]
    altered = line[1].decode() != sha256_of(archive)
    return named + ([f"{archive.name}: was altered: its SHA-256 is not that of {beside.name}"] if altered else [])


def _framing_problems(archive: Path, content: Path, unpacked: Unpacked) -> list[str]:
    """The first difference between the archive and the one that would be written from its contents, if any."""
    entries = entries_of({name: content / name for name in unpacked.digests}, unpacked.root)
    form, place, where = form_of(archive), 0, [""]

    def watched() -> Iterator[Entry]:
        for entry in entries:
            where[0] = f"of {entry.name.partition('/')[2]}"
            yield entry
        where[0] = "after the last file"

    with expanded(archive) as source:
        for piece in packed(TAR if form == TAR_GZ else form, watched()):
            actual = source.read(len(piece))
            if actual != piece:
                shared = min(len(actual), len(piece))
                place += next((k for k in range(shared) if actual[k] != piece[k]), shared)
                return [
                    f"{archive.name}: a header or padding {where[0]} (byte {place}) is not what 'salgen publish' "
                    "writes: it was altered, or another tool wrote the archive"
                ]
            place += len(piece)
        return [f"{archive.name}: the archive has bytes after its end"] if source.read(1) else []
