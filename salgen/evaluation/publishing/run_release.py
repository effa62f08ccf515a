"""The release of a run: scores, maps, models and report, with card, citation and metadata."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import Any
from salgen.datasets.format import checksums
from salgen.datasets.format import manifest as manifests
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.format.shards import shards_of
from salgen.datasets.metadata import citation
from salgen.datasets.metadata.publication_metadata import PublicationMetadata, Release
from salgen.datasets.publishing import dataset_release
from salgen.evaluation.publishing.run_card import TAGS, Contents, run_card, run_croissant
from salgen.evaluation.report import console_summary
from salgen.evaluation.report.page import PAGE, render
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.runs.artifacts import predictions
from salgen.evaluation.runs.artifacts.certificate_table import CERTIFICATES, COMPOSITES
from salgen.evaluation.runs.artifacts.run_record import RECORD, MethodRecord, RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import GALLERY, folder_name, method_folder
from salgen.evaluation.runs.source_run import DATA, checkpoint_files, checkpoint_of
from salgen.evaluation.statistics.comparisons import COMPARISONS
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.statistics.summary import SUMMARY
from salgen.evaluation.verification.verifying import run_problems
from salgen.files import sha256_of
from salgen.progress import progress

TABLES = (SCORES, SUMMARY, COMPARISONS, predictions.FILE)
VERSION = "1.0.0"
# an absolute path in a text; text after ``//`` is not a path of the machine
PATH = re.compile(r"(?<![\w/.])/(?:[^\s/:,;'\"()]+/)+([^\s/:,;'\"()]+)")


@contextmanager
def published_run(
    folder: Path, publication: PublicationMetadata, *, may_redistribute: bool = False
) -> Iterator[Release]:
    """The release of a run, with a new report; temporary files of it exist within the ``with`` block.

    Pictures, images and maps that show them are left out where pixels may not be passed on.
    """
    dataset_release.check_sound(folder, run_problems(folder, samples=0))
    own = RunRecord.read(folder / RECORD)
    declared, kept = bool(own.dataset.redistributable), folder / DATA
    if declared and (kept / manifests.FILE).is_file():
        declared = read_manifest(kept).redistributable  # that of the data which the run keeps
    pixels = may_redistribute or declared
    record = published_record(own, pixels=pixels)
    checkpoints = [checkpoint_of(folder, model.name, model.seed, model.weights_sha256) for model in record.models]
    with _data(folder, record, pixels) as (data, images):
        contents = Contents(record, console_summary([folder]), images, all(checkpoints))
        names = [*TABLES, *record.maps]
        names += [
            name for name in (CERTIFICATES, COMPOSITES, *((GALLERY,) if images else ())) if (folder / name).is_file()
        ]
        models = [path for checkpoint in checkpoints if checkpoint for path in checkpoint_files(checkpoint)]
        files: dict[str, Path | bytes] = {name: folder / name for name in names}
        files |= {path.relative_to(folder).as_posix(): path for path in models}
        (run,) = read_runs([folder])
        page = render([replace(run, record=record)], pictures=images)
        files |= {**data, RECORD: record.to_text().encode(), PAGE: page.encode()}
        yield _release(contents, files, dataset_release.archive_root(folder), publication)
    if not pixels:
        dataset_release.warn_of_left_out(f"the images, pictures and maps of {folder} that show pixels")


def published_record(record: RunRecord, *, pixels: bool) -> RunRecord:
    """The record without paths of the machine and, unless `pixels` may be passed on, without maps that show them."""

    def shows_image(method: MethodRecord) -> bool:
        """Whether it does, or does not say, as methods from elsewhere."""
        foreign = method.files or method.foreign
        return bool(foreign or getattr(method.created, "shows_image", True))

    hidden = [] if pixels else [method.call for method in record.methods if shows_image(method)]
    folders = set(map(folder_name, hidden))
    return replace(
        RunRecord.from_json(_without_paths(asdict(record))),
        command=None if record.command is None else [_last_parts(word) for word in record.command],
        maps={name: key for name, key in record.maps.items() if method_folder(name) not in folders},
        maps_left_out=list(dict.fromkeys([*(record.maps_left_out or []), *(hidden if record.maps else [])])),
    )


def _last_parts(word: str) -> str:
    """A word of a command, with a path cut to its last part."""
    option, equals, value = word.partition("=")
    if equals and "/" not in option:
        return f"{option}={_last_parts(value)}"
    return PurePath(word).name or word


def _without_paths(value: Any) -> Any:
    """JSON values in whose texts absolute paths are cut to their last part."""
    if isinstance(value, str):
        return PATH.sub(r"\1", value)
    if isinstance(value, dict):
        return {key: _without_paths(inner) for key, inner in value.items()}
    return [_without_paths(inner) for inner in value] if isinstance(value, list) else value


def _release(
    contents: Contents, files: Mapping[str, Path | bytes], root: str, publication: PublicationMetadata
) -> Release:
    sums = {}
    with progress("checksums", len(files), "files") as advance:
        for name, content in files.items():
            sums[name] = sha256_of(content) if isinstance(content, Path) else hashlib.sha256(content).hexdigest()
            advance()
    card = run_card(contents, files, publication)
    cited = citation.cff_text(
        title=contents.title,
        kind="run",
        abstract=contents.abstract,
        version=VERSION,
        identifier=(sums[RECORD], f"SHA-256 of the run's record, {RECORD}"),
        publication=publication,
        references=citation.papers_in(_reference(method.reference) for method in contents.record.methods),
    )
    texts: dict[str, bytes] = {checksums.CARD: card.encode(), citation.FILE: cited.encode()}
    digests = {**sums, **{name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}}
    texts[checksums.CROISSANT] = run_croissant(contents, digests, publication).encode()
    return Release(
        files=dataset_release.with_checksums({**files, **texts}, sums),
        root=root,
        title=contents.title,
        card=card,
        keywords=TAGS,
        version=VERSION,
        note=f"SHA-256 of the run's record ({RECORD}): {sums[RECORD]}",
        publication=publication,
    )


@contextmanager
def _data(folder: Path, record: RunRecord, pixels: bool) -> Iterator[tuple[dict[str, Path | bytes], bool]]:
    """The data that a run with maps keeps, without pixels where they may not be passed on; whether there are any."""
    data = folder / DATA
    if not record.maps:
        yield {}, pixels
        return
    kept = read_manifest(data)
    released = dataset_release.as_published(kept, pixels=pixels)
    shards = shards_of(kept, record.dataset.split)
    with dataset_release.shards_to_publish(data, kept, released, shards) as paths:
        files: dict[str, Path | bytes] = {f"{DATA}/{name}": path for name, path in paths.items()}
        yield {**files, f"{DATA}/{manifests.FILE}": released.to_text().encode()}, released.pixels and pixels


def _reference(text: str) -> str:
    """``Authors 2021, Title`` as the papers in docstrings are written: ``Authors 2021, *Title*``."""
    authors, comma, title = text.partition(", doi:")[0].partition(", ")
    return f"{authors}, *{title}*" if comma else text
