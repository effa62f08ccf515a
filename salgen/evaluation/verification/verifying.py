"""Verification of data sets and runs, as folders or as archives; all problems are reported at once."""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
import numpy as np
import pyarrow.parquet as pq
from salgen.datasets.archives.archive_formats import SUFFIXES, is_archive
from salgen.datasets.archives.unpacking import archive_problems
from salgen.datasets.format import checksums
from salgen.datasets.format.checksums import file_problems
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.format.shards import shards_of
from salgen.datasets.verification import verify_dataset as data_sets
from salgen.errors import SalgenError, readable
from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.report.gallery import GALLERY, read_gallery
from salgen.evaluation.runs.artifacts.certificate_table import CERTIFICATES, COMPOSITES, read_certificates
from salgen.evaluation.runs.artifacts.predictions import FILE as PREDICTIONS
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import check_maps, folder_name, maps_name, read_maps
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.rescoring import rescore
from salgen.evaluation.runs.source_run import CHECKPOINTS, DATA, SourceRun, checkpoint_of
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.scoring.own_metrics import OwnMetric
from salgen.evaluation.statistics.comparisons import COMPARISONS
from salgen.evaluation.statistics.score_cube import SCORES, ScoreCube, read_scores
from salgen.evaluation.statistics.summary import SUMMARY
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS, load_checkpoint
from salgen.progress import progress

TOLERANCE = 1e-9  # for a score


def run_problems(folder: Path, *, source: str | None = None, samples: int = 32) -> list[str]:
    """One line for each problem of a run folder, as :func:`salgen.verify` says; none for a sound run."""
    problems = file_problems(folder) if (folder / checksums.FILE).is_file() else []
    try:
        record = RunRecord.read(folder / RECORD)
    except SalgenError as error:
        return [*problems, str(error)]
    problems += _until_unreadable(folder, model_problems(folder, record))
    for name, read in TABLES.items():
        problems += _until_unreadable(folder, table_problems(folder / name, read, record))
    if record.maps:
        problems += _until_unreadable(folder, snapshot_problems(folder, source, samples))
    return list(dict.fromkeys(problems))


def _until_unreadable(folder: Path, check: Iterable[str]) -> list[str]:
    """The problems that one check finds, up to the first file that it cannot read."""
    problems: list[str] = []
    try:
        with readable(f"{folder} has content that `salgen evaluate` does not write"):
            problems.extend(check)
    except SalgenError as error:
        problems.append(str(error))
    return problems


TABLES: dict[str, Callable[[Path], Any]] = {
    SCORES: lambda path: read_scores(path.parent),
    SUMMARY: Path.read_text,
    COMPARISONS: Path.read_text,
    PREDICTIONS: pq.read_table,
    CERTIFICATES: read_certificates,
    COMPOSITES: pq.read_table,
    GALLERY: read_gallery,
}


def table_problems(path: Path, read: Callable[[Path], Any], record: RunRecord) -> Iterator[str]:
    """A table that is missing; certificates, composites and pictures need not be there. One that is there is read."""
    needed = {CERTIFICATES: record.certificates.models, COMPOSITES: record.composites, GALLERY: False}
    if path.is_file():
        with readable(f"{path} cannot be read", ": fetch the archive or evaluate again"):
            read(path)
    elif needed.get(path.name, True):
        yield f"{path} is missing: the run is not finished"


def model_problems(folder: Path, record: RunRecord) -> Iterator[str]:
    """Checkpoints that are damaged, or differ from the record's models."""
    for model in record.models:
        place = checkpoint_of(folder, model.name, model.seed, model.weights_sha256)
        if place is not None:
            load_checkpoint(place, "cpu")
            continue
        for parent in (folder, folder / CHECKPOINTS):
            checkpoint = parent / f"{folder_name(model.name)}-seed{model.seed}"
            if any((checkpoint / file).is_file() for file in (CARD, WEIGHTS)):
                yield f"{checkpoint}: its weights are not those of {RECORD}"


def snapshot_problems(folder: Path, source: str | None, samples: int) -> Iterator[str]:
    """Problems of the maps and the data that a run keeps; where these are sound, scores that do not follow."""
    run = SourceRun.read(folder)
    metrics = {call: create_metric(call) for call in run.record.metrics}
    plan = Plan.of(run.dataset(source=source), run.conventions, [], run.methods, metrics, source_run=run)
    sound = True
    for problem in chain(map_problems(folder, run.record, plan), data_problems(folder, plan, source, samples)):
        sound = False
        yield problem
    if sound and samples:
        yield from score_problems(folder, plan, source, samples)


def map_problems(folder: Path, record: RunRecord, plan: Plan) -> Iterator[str]:
    """Files of maps that are missing, damaged, of another evaluation, or without some of the scored samples."""
    calls = [method.call for method in record.methods if method.call not in (record.maps_left_out or ())]
    expected = {
        maps_name(model.name, model.seed, call, kind, number): [plan.dataset.ids[place] for place in chunk]
        for model, call, kind in product(record.models, calls, plan.kinds)
        for number, chunk in enumerate(plan.chunks)
    }
    with progress("verifying maps", len(expected), "files") as advance:
        for name, ids in expected.items():
            try:
                check_maps(folder, name, record.maps)
                read_maps(folder / name, ids)
            except SalgenError as error:
                yield str(error)
            advance()


def data_problems(folder: Path, plan: Plan, source: str | None, samples: int) -> Iterator[str]:
    """Rows of the split that are damaged, and samples that are not rendered again bit for bit."""
    data, split = folder / DATA, plan.dataset.split
    manifest = read_manifest(data)
    manifest = replace(manifest, spec=replace(manifest.spec, splits={split: manifest.spec.splits[split]}))
    for shard in shards_of(manifest):
        yield from data_sets.shard_problems(data, manifest, shard)
    yield from data_sets.rendering_problems(
        data, manifest, shards_of(manifest), source, min(samples, len(plan.dataset))
    )


def score_problems(folder: Path, plan: Plan, source: str | None, samples: int) -> Iterator[str]:
    """Scores of the first samples that do not follow from maps, masks and images, by metrics that ask no model."""
    scored, inputs = plan.scored[:samples], {*OF_THE_MASK, "target", "correct", *plan.kinds}
    if plan.dataset.manifest.pixels:
        inputs.add("image")
    of_maps = {call: m for call, m in plan.metrics.items() if m.needs <= inputs and not isinstance(m, OwnMetric)}
    in_part = len(scored) < len(plan.scored)
    chosen = {call: metric for call, metric in of_maps.items() if not (in_part and hasattr(metric, "aggregate"))}
    if not chosen:
        return
    with TemporaryDirectory(prefix="salgen-verify-") as temporary:
        out, limit = Path(temporary) / "run", scored[-1] + 1
        recomputed = read_scores(rescore(folder, metrics=chosen, out=out, limit=limit, source=source))
    if wrong := _differences(recomputed, read_scores(folder)):
        yield f"{folder / SCORES}: {len(wrong)} scores do not follow from the maps, the first that of {wrong[0]}"


def _differences(recomputed: ScoreCube, cube: ScoreCube) -> list[str]:
    """The recomputed scores that differ, in words; worst cases may depend on samples that were not recomputed."""
    axes = ("series", "metrics", "variants", "seeds", "samples")
    place = np.ix_(*([getattr(cube, axis).index(name) for name in getattr(recomputed, axis)] for axis in axes))
    reasons = [np.array(scores.reason_names)[scores.reason] for scores in (recomputed, cube)]
    same = np.isclose(recomputed.value, cube.value[place], rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    wrong = np.argwhere((recomputed.scored | cube.scored[place]) & ~(same & (reasons[0] == reasons[1][place])))
    return [
        f"{recomputed.series[s][1]} under {recomputed.metrics[m]} in {recomputed.variants[v]} "
        f"on {recomputed.samples[i]} ({recomputed.series[s][0]}, seed {recomputed.seeds[t]})"
        for s, m, v, t, i in wrong
    ]


def verify(path: str | os.PathLike[str], *, source: str | None = None, samples: int = 32) -> list[str]:
    """Check a data set's or a run's folder, or an archive of one.

    Checked of a data set are the checksums, the spec's fingerprint and the schema. For every sample these are its id,
    the digest of its pixels, and that image and twin are equal outside the mask. Some samples are drawn and rendered
    again and must come out with the same recipe and the same bits.
    Checked of a run are the checksums, where it was published, and that its tables and models can be read. If it kept
    its maps, these and the data are checked, and some samples are rendered and scored again.
    An archive is compared with the digest beside it, where there is one, and unpacked into a temporary
    folder for the rest.

    Parameters
    ----------
    path
        The folder or the archive.
    source
        The source data that a data set was made from, where that is not the generator's default.
    samples
        Number of samples to render again, evenly spread over the splits, and of a run's first samples to
        score again; 0 for none.

    Returns
    -------
    One line for each problem; none if there are none.

    Raises
    ------
    SalgenError
        If there is no such folder or archive.
    """
    return verdict(path, source=source, samples=samples)[0]


def verdict(path: str | os.PathLike[str], *, source: str | None = None, samples: int = 32) -> tuple[list[str], str]:
    """As :func:`verify`, with what could not be checked as the source is not given, or ""."""
    place, unchecked = Path(path), ""

    def check(folder: Path) -> list[str]:
        nonlocal unchecked
        if (folder / RECORD).is_file():
            return run_problems(folder, source=source, samples=samples)
        unchecked = data_sets.unchecked(folder, source=source)
        return data_sets.verify(folder, source=source, samples=samples)

    if is_archive(place):
        return archive_problems(place, check), unchecked
    if not place.is_dir():
        fault = "is not a folder" if place.exists() else "does not exist"
        raise SalgenError(f"{place} {fault}: give a folder of a data set or run, or an archive ({', '.join(SUFFIXES)})")
    return check(place), unchecked
