"""The release of a data set: its files, texts that describe them, and pixels only where they may be passed on.

Nothing here looks at a clock, so the same folder and statements give the same bytes.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
import pyarrow as pa
from salgen.datasets.format import checksums
from salgen.datasets.format import manifest as manifests
from salgen.datasets.format.checksums import read_checksums
from salgen.datasets.format.manifest import Manifest, read_manifest
from salgen.datasets.format.schema import arrow_schema
from salgen.datasets.format.shards import Shard, open_shard, read_group, shard_writer, shards_of
from salgen.datasets.metadata import citation
from salgen.datasets.metadata.card import card_text, tags
from salgen.datasets.metadata.croissant import croissant_text
from salgen.datasets.metadata.publication_metadata import Files, PublicationMetadata, Release
from salgen.datasets.verification.verify_dataset import verify
from salgen.errors import SalgenError, readable, warn
from salgen.files import sha256_of
from salgen.generators.factory import class_of
from salgen.progress import progress

NAMED = 3  # problems in a message
PIXELS = ("image", "twin")  # the columns that hold what the source's owner may want to keep


@contextmanager
def published(folder: Path, publication: PublicationMetadata, *, may_redistribute: bool = False) -> Iterator[Release]:
    """A data set as it is published; files that had to be written exist within the ``with`` block."""
    stored = read_manifest(folder)
    spec = stored.spec
    plugin = class_of(spec)
    check_sound(folder, verify(folder, samples=0))
    digests = read_checksums(folder)
    described = as_published(stored, pixels=stored.redistributable or may_redistribute)
    with shards_to_publish(folder, stored, described, shards_of(stored)) as shards:
        rewritten = described.pixels != stored.pixels
        sums = {name: sha256_of(path) if rewritten else digests[name] for name, path in shards.items()}
        card = card_text(described, plugin, publication)
        texts = {
            checksums.CARD: card.encode(),
            citation.FILE: citation.citation_text(described, plugin, publication).encode(),
            manifests.FILE: described.to_text().encode(),
        }
        # Croissant has the checksums of all other files.
        listed = {**sums, **{name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}}
        texts[checksums.CROISSANT] = croissant_text(described, publication, listed).encode()
        yield Release(
            files=with_checksums({**shards, **texts}, sums),
            root=archive_root(folder),
            title=citation.title(described),
            card=card,
            keywords=tags(described),
            version=f"{spec.generator_version}.0.0",
            note=f"Fingerprint (SHA-256 of the data set's description): {spec.fingerprint}",
            publication=publication,
        )
    if rewritten:
        warn_of_left_out(f"the images and twins of {folder}")


def archive_root(folder: Path) -> str:
    """The folder within an archive: the name of what is published, of letters that every system takes."""
    return re.sub(r"[^\w.-]+", "-", folder.resolve().name)


def warn_of_left_out(what: str) -> None:
    """Warn that pixels are not published, and name the option that includes them."""
    warn(
        f"{what} are left out, as their source is not known to allow passing them on: if you may, publish again with "
        "--may-redistribute (may_redistribute=True)"
    )


def as_published(stored: Manifest, *, pixels: bool) -> Manifest:
    """The manifest as it is published if pixels may be passed on, or may not: recipes alone hold none."""
    return stored if stored.recipes_only else replace(stored, pixels=stored.pixels and pixels)


def with_checksums(files: Files, digests: Mapping[str, str]) -> dict[str, Path | bytes]:
    """Files in the order of their names, with their `SHA256SUMS`; `digests` are those of the files on disk."""
    sums = {
        name: hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else digests[name]
        for name, content in files.items()
    }
    listed = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
    return dict(sorted({**files, checksums.FILE: listed.encode()}.items()))


def check_sound(folder: Path, problems: Sequence[str]) -> None:
    """Raise a SalgenError that names the first problems of what shall be published, if it has any."""
    if problems:
        more = f" and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
        raise SalgenError(f"{folder} cannot be published: {'; '.join(problems[:NAMED])}{more}")


@contextmanager
def shards_to_publish(
    folder: Path, stored: Manifest, described: Manifest, shards: Sequence[Shard]
) -> Iterator[dict[str, Path]]:
    """Names of shards to the files to publish: those of the folder, or written anew where `described` has no pixels."""
    if described.pixels == stored.pixels:
        yield {shard.path: folder / shard.path for shard in shards}
        return
    with TemporaryDirectory(prefix="salgen-publish-") as place:
        with progress("leaving out pixels", sum(map(len, shards)), "images") as advance:
            for shard in shards:
                with readable(f"{place} cannot be written", "; set TMPDIR to a folder with more room"):
                    (Path(place) / shard.path).parent.mkdir(exist_ok=True)
                    _copy_without_pixels(folder, stored, shard, Path(place) / shard.path)
                advance(len(shard))
        yield {shard.path: Path(place) / shard.path for shard in shards}


def _copy_without_pixels(folder: Path, stored: Manifest, shard: Shard, target: Path) -> None:
    """A shard with the same rows, in which images and twins are null."""
    schema = arrow_schema(stored)
    kept = [name for name in schema.names if name not in PIXELS]
    file = open_shard(folder, shard, schema, stored.rows_per_group)
    with shard_writer(target, stored) as writer:
        for group in range(file.num_row_groups):
            rows = read_group(folder / shard.path, file, group, kept)
            columns = [
                pa.nulls(rows.num_rows, field.type) if field.name in PIXELS else rows[field.name] for field in schema
            ]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=stored.rows_per_group)
