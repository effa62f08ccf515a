"""Verification of a data set folder; all problems are reported at once."""

from pathlib import Path
from salgen.datasets.format.checksums import file_problems
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.format.shards import Shard, shards_of
from salgen.datasets.verification.row_checks import shard_problems
from salgen.datasets.verification.spot_checks import lacks_source, rendering_problems
from salgen.errors import SalgenError, readable
from salgen.progress import progress


def verify(folder: Path, *, source: str | None = None, samples: int = 32) -> list[str]:
    """Problems of a data set folder, a line each, as `salgen.verify` finds them; those of :func:`unchecked` are none.

    Checked are the checksums, the spec's fingerprint and the schema. Each sample must have the digest of its pixels,
    and image and twin must be equal outside the mask. Some samples, evenly spread over the splits, are drawn and
    rendered again and must come out with the same recipe and the same bits.
    """
    try:
        described = read_manifest(folder)
    except SalgenError as error:
        return [str(error), *file_problems(folder, None)]
    problems, sound = file_problems(folder, described), list[Shard]()
    total = sum(described.spec.splits.values())
    with progress("verifying", total, "images") as advance:
        for shard in shards_of(described):
            try:
                with readable(f"{shard.path} is damaged"):
                    problems += shard_problems(folder, described, shard)
                sound.append(shard)
            except SalgenError as error:
                if (folder / shard.path).is_file():
                    problems.append(str(error))
            advance(len(shard))
    return problems + rendering_problems(folder, described, sound, source, min(samples, total))


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
