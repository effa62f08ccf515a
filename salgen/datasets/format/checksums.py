"""`SHA256SUMS`: one line for every other file, as ``sha256sum --check`` reads it."""

import re
from pathlib import Path
from salgen.datasets.format import manifest as manifests
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.shards import shards_of
from salgen.errors import SalgenError
from salgen.files import sha256_of, write_text

FILE = "SHA256SUMS"
CARD = "README.md"
CROISSANT = "croissant.json"
PARQUET_END = b"PAR1"
FOREIGN = (".git", ".gitattributes", ".cache")  # what version control and the hub put into a copy

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
    if not path.exists():
        raise SalgenError(f"{FILE} is missing: the data set is not complete; run its 'salgen make' again")
    lines = path.read_bytes().decode("utf-8", "replace").splitlines(keepends=True)
    matches = [_LINE.fullmatch(line) for line in lines]
    if None in matches or lines != sorted(lines, key=lambda line: line[64:]):
        raise SalgenError(f"{FILE} was altered: each line is a checksum, two spaces and a file name, in their order")
    return {match[2]: match[1] for match in matches if match}


def file_problems(folder: Path, described: Manifest | None = None) -> list[str]:
    """Files that are missing, altered or not listed in `SHA256SUMS`, or not those that a manifest describes."""
    expected = files_of(described) if described else []
    try:
        sums = read_checksums(folder)
        problems = [f"{FILE}: has no line for {name}" for name in expected if name not in sums]
    except SalgenError as error:
        sums, problems = {}, [str(error)]
    belonging = {*sums, *expected}
    for name in sorted(belonging):
        path = folder / name
        if not path.is_file():
            problems.append(f"{name}: is missing")
        elif name in sums and sha256_of(path) != sums[name]:
            truncated = path.suffix == ".parquet" and not path.read_bytes().endswith(PARQUET_END)
            state = "truncated" if truncated else "altered"
            problems.append(f"{name}: was {state}: its SHA-256 is not that of {FILE}")
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    present = {path.as_posix() for path in paths if path.parts[0] not in FOREIGN} - {FILE}
    fault = "is not a file of this data set" if described else f"is not listed in {FILE}"
    return problems + [f"{name}: {fault}" for name in sorted(present - belonging)]
