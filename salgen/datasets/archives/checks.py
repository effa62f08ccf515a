"""Checks of an archive: its digest, and the folder that it holds; all problems are reported at once."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from salgen.datasets.archives.archive_formats import DIGEST, quoted
from salgen.datasets.archives.unpacking import extract
from salgen.errors import SalgenError
from salgen.files import sha256_of

LONGEST_DIGEST_FILE = 4096


def archive_problems(archive: Path, check: Callable[[Path], list[str]]) -> list[str]:
    """Check the digest beside an archive, where there is one, and with `check` the folder that it holds.

    Returns
    -------
    One line for each problem, which names the archive or the file within it.
    """
    problems = _digest_problems(archive)
    with TemporaryDirectory(prefix="salgen-verify-") as place:
        content = Path(place) / "content"
        try:
            extract(archive, content, durable=False)
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
    beside = archive.with_name(f"{archive.name}{DIGEST}")
    try:
        with open(beside, "rb") as handle:
            text = handle.read(LONGEST_DIGEST_FILE)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [f"{beside.name}: cannot be read ({error.strerror})"]
    line = re.fullmatch(rb"([0-9a-f]{64})  ([^\n]+)\n", text)
    if line is None:
        return [f"{beside.name}: is not a SHA-256, two spaces and a file name"]
    name = line[2].decode("utf-8", "replace")
    named = [] if name == archive.name else [f"{beside.name}: is about {quoted(name)}, not of {archive.name}"]
    altered = line[1].decode() != sha256_of(archive)
    return named + ([f"{archive.name}: was altered: its SHA-256 is not that of {beside.name}"] if altered else [])
