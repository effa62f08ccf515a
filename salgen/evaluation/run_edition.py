"""A run as it is published: scores, maps, models and report, with the texts that say what they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from salgen.datasets import checksums, citation
from salgen.datasets import manifest as manifests
from salgen.datasets.edition import Edition
from salgen.datasets.manifest import read_manifest
from salgen.datasets.publication import Publication, stated
from salgen.datasets.publishing import shards_to_publish, with_checksums
from salgen.datasets.shards import shards_of
from salgen.errors import SalgenError
from salgen.evaluation import predictions
from salgen.evaluation.certificate import FILE as CERTIFICATES
from salgen.evaluation.comparisons import COMPARISONS
from salgen.evaluation.gallery import GALLERY
from salgen.evaluation.keeping import DATA, checkpoint_files, checkpoint_of
from salgen.evaluation.report import console_summary, report
from salgen.evaluation.report.page import PAGE
from salgen.evaluation.report.record import read_record
from salgen.evaluation.run_card import TAGS, Contents, run_card, run_croissant
from salgen.evaluation.run_checks import maps_of, run_problems
from salgen.evaluation.run_record import RECORD
from salgen.evaluation.score_cube import SCORES
from salgen.evaluation.summary import SUMMARY
from salgen.files import sha256_of
from salgen.progress import progress

TABLES = (SCORES, SUMMARY, COMPARISONS, predictions.FILE)
NAMED = 3  # problems in a message
VERSION = "1.0.0"


@contextmanager
def published_run(
    folder: Path,
    *,
    licence: str | None,
    date: str | None,
    may_redistribute: bool = False,
    creators: Sequence[str] = (),
    url: str | None = None,
) -> Iterator[Edition]:
    """A run as it is published; files that had to be written are there within the ``with`` block.

    The report is written anew. Where the data set's source is not known to allow that pixels are passed on,
    pictures and images are left out.

    Parameters are those of :func:`salgen.datasets.publishing.published`.

    Raises
    ------
    SalgenError
        If licence or date is missing or malformed, or the run is not finished or was altered.
    """
    publication = stated(licence, date, creators, url)
    record = read_record(folder / RECORD)
    if problems := run_problems(folder, samples=0):
        more = f" and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
        raise SalgenError(f"{folder} cannot be published: {'; '.join(problems[:NAMED])}{more}")
    pixels = bool(record["dataset"].get("redistributable", False) or may_redistribute)
    checkpoints = _checkpoints(folder, record)
    contents = Contents(record, console_summary([folder]), pixels, all(checkpoints), bool(record.get("maps")))
    files = [folder / name for name in (RECORD, *TABLES)]
    files += [folder / CERTIFICATES] if (folder / CERTIFICATES).is_file() else []
    files += [path for found in checkpoints if found for path in checkpoint_files(found)]
    files += [path for path, _ in maps_of(folder, record)]
    if pixels and (folder / GALLERY).is_file():
        files.append(folder / GALLERY)
    there: dict[str, Path | bytes] = {path.relative_to(folder).as_posix(): path for path in files}
    with _data(folder, contents) as data, _report(folder, contents) as page:
        yield _edition(contents, {**there, **data, PAGE: page}, publication)


def _edition(contents: Contents, files: Mapping[str, Path | bytes], publication: Publication) -> Edition:
    sums = _checksums(files)
    card = run_card(contents, files, publication)
    texts = {
        checksums.CARD: card.encode(),
        citation.FILE: _citation(contents, sums[RECORD], publication).encode(),
    }
    digests = {**sums, **{name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}}
    texts[checksums.CROISSANT] = run_croissant(contents, digests, publication).encode()
    return Edition(
        files=with_checksums({**files, **texts}, sums),
        root=f"{contents.record['dataset']['generator']}-run",
        title=contents.title,
        card=card,
        keywords=TAGS,
        version=VERSION,
        note=f"SHA-256 of the run's record ({RECORD}): {sums[RECORD]}",
        publication=publication,
    )


def _checksums(files: Mapping[str, Path | bytes]) -> dict[str, str]:
    """SHA-256 of every file."""
    paths = {name: content for name, content in files.items() if isinstance(content, Path)}
    found = {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if isinstance(content, bytes)}
    with progress("checksums", len(paths), "files") as advance:
        for name, path in paths.items():
            found[name] = sha256_of(path)
            advance()
    return found


def _checkpoints(folder: Path, record: Mapping[str, Any]) -> list[Path | None]:
    """The folder of each model's weights, if it has one."""
    return [
        checkpoint_of(folder, model["name"], model["seed"], str(model.get("weights_sha256")))
        for model in record["models"]
    ]


@contextmanager
def _data(folder: Path, contents: Contents) -> Iterator[dict[str, Path | bytes]]:
    """The split's data that a run with maps keeps, without pixels where they may not be passed on."""
    data = folder / DATA
    if not contents.maps:
        yield {}
        return
    there = read_manifest(data)
    described = replace(there, pixels=there.pixels and contents.pixels)
    shards = shards_of(there, contents.record["dataset"]["split"])
    with shards_to_publish(data, there, described, shards) as found:
        named: dict[str, Path | bytes] = {f"{DATA}/{name}": path for name, path in found.items()}
        yield {**named, f"{DATA}/{manifests.FILE}": described.to_text().encode()}


@contextmanager
def _report(folder: Path, contents: Contents) -> Iterator[Path]:
    """The run's page, without pictures where pixels may not be passed on."""
    with TemporaryDirectory(prefix="salgen-publish-") as place:
        shown = Path(place) / folder.resolve().name
        shown.mkdir()
        for name in (RECORD, *TABLES, CERTIFICATES, *((GALLERY,) if contents.pixels else ())):
            if (folder / name).is_file():
                (shown / name).symlink_to((folder / name).resolve())
        yield report([shown], Path(place) / PAGE)


def _citation(contents: Contents, digest: str, publication: Publication) -> str:
    return citation.cff_text(
        title=contents.title,
        kind="run",
        abstract=contents.abstract,
        version=VERSION,
        identifier=(digest, f"SHA-256 of the run's record, {RECORD}"),
        publication=publication,
        references=citation.papers_in(_reference(method["reference"]) for method in contents.record["methods"]),
    )


def _reference(text: str) -> str:
    """``Authors 2021, Title`` as the papers in docstrings are written: ``Authors 2021, *Title*``."""
    authors, comma, title = text.partition(", ")
    return f"{authors}, *{title}*" if comma else text
