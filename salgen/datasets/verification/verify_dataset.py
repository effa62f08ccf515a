"""Verification of a data set folder; all problems are reported at once."""

from pathlib import Path

from salgen.datasets.format import checksums
from salgen.datasets.format.checksums import files_of, read_checksums
from salgen.datasets.format.manifest import Manifest, read_manifest
from salgen.datasets.format.shards import shards_of
from salgen.datasets.verification.row_checks import shard_problems
from salgen.datasets.verification.spot_checks import lacks_source, rendering_problems
from salgen.errors import SalgenError
from salgen.files import sha256_of
from salgen.progress import progress

PARQUET_END = b"PAR1"
FOREIGN = (".git", ".gitattributes", ".cache")  # what version control and the hub put into a copy


def verify(folder: Path, *, source: str | None = None, samples: int = 32) -> list[str]:
    """Check a data set folder.

    Checked are the checksums, the spec's fingerprint, the schema, and for every sample its id, the
    digest of its pixels, and that image and twin are equal outside the mask. Some samples are drawn
    and rendered again and must come out with the same recipe and the same bits.

    Parameters
    ----------
    folder
        The data set.
    source
        The outside material it was made from, where that is not the generator's default.
    samples
        How many samples to render again, evenly spread over the splits; 0 for none.

    Returns
    -------
    One line for each problem; none for a sound data set. What :func:`unchecked` names is no problem.
    """
    try:
        described = read_manifest(folder)
    except SalgenError as error:
        return [str(error), *file_problems(folder, None)]
    problems, readable = file_problems(folder, described), []
    total = sum(described.spec.splits.values())
    with progress("verifying", total, "images") as advance:
        for shard in shards_of(described):
            try:
                problems += shard_problems(folder, described, shard)
                readable.append(shard)
            except SalgenError as error:
                if (folder / shard.path).is_file():
                    problems.append(str(error))
            advance(len(shard))
    return problems + rendering_problems(folder, described, readable, source, min(samples, total))


def unchecked(folder: Path, *, source: str | None = None) -> str:
    """What cannot be checked of a data set without the material that it was made from, or ""."""
    try:
        described = read_manifest(folder)
    except SalgenError:
        return ""
    told = (
        f"checksums, schema and rows were checked; no sample was rendered again, as {described.spec.source} of "
        f"{described.spec.generator} is not part of it: give it with --source PATH"
    )
    return told if lacks_source(described, source) else ""


def file_problems(folder: Path, described: Manifest | None = None) -> list[str]:
    """Files that are missing, altered or not listed in `SHA256SUMS`, or not those that a manifest describes."""
    expected = files_of(described) if described else []
    try:
        sums = read_checksums(folder)
        problems = [f"{checksums.FILE}: has no line for {name}" for name in expected if name not in sums]
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
            problems.append(f"{name}: was {state}: its SHA-256 is not that of {checksums.FILE}")
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    present = {path.as_posix() for path in paths if path.parts[0] not in FOREIGN} - {checksums.FILE}
    fault = "is not a file of this data set" if described else f"is not listed in {checksums.FILE}"
    return problems + [f"{name}: {fault}" for name in sorted(present - belonging)]
