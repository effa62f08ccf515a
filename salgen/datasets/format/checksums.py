"""`SHA256SUMS`: one line for every other file, as ``sha256sum --check`` reads it."""

import re
from pathlib import Path

from salgen.datasets.format import manifest as manifests
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.shards import shards_of
from salgen.errors import SalgenError, reason
from salgen.files import sha256_of, write_text

FILE = "SHA256SUMS"
CARD = "README.md"
CROISSANT = "croissant.json"

_LINE = re.compile(r"([0-9a-f]{64})  ([^\n]+)\n")


def files_of(manifest: Manifest) -> list[str]:
    """The files of a complete data set, `SHA256SUMS` excepted, as sorted paths with ``/``."""
    return sorted([CARD, CROISSANT, manifests.FILE, *(shard.path for shard in shards_of(manifest))])


def write_checksums(folder: Path, manifest: Manifest) -> None:
    """Write the checksums of all files; the file's presence says that the data set is complete."""
    lines = [f"{sha256_of(folder / name)}  {name}\n" for name in files_of(manifest)]
    write_text(folder / FILE, "".join(lines))


def read_checksums(folder: Path) -> dict[str, str]:
    """File name to hexadecimal SHA-256."""
    path = folder / FILE
    try:
        lines = path.read_bytes().decode().splitlines(keepends=True)
    except FileNotFoundError:
        raise SalgenError(f"{FILE} is missing: the data set is not complete; run its 'salgen make' again") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SalgenError(f"{FILE} cannot be read: {reason(error)}") from None
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise SalgenError(f"{FILE}: line {number} is not a checksum, two spaces and a file name")
        digests[match[2]] = match[1]
    return digests
