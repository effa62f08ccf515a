"""Verification of a run: everything that can be recomputed is recomputed and compared with the files."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from salgen.datasets.format import checksums
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.format.shards import shards_of
from salgen.datasets.verification.row_checks import shard_problems
from salgen.datasets.verification.spot_checks import rendering_problems
from salgen.datasets.verification.verify_dataset import file_problems
from salgen.errors import SalgenError, reason
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord, content_faults
from salgen.evaluation.runs.source_run import DATA
from salgen.evaluation.verification.checked_run import CheckedRun
from salgen.evaluation.verification.derived_tables import (
    certificate_problems,
    csv_problems,
    gallery_problems,
    prediction_problems,
)
from salgen.evaluation.verification.maps import map_problems, model_problems
from salgen.evaluation.verification.recompute import recompute_problems
from salgen.evaluation.verification.scores import row_problems, sample_problems

CHECKS: tuple[Callable[[CheckedRun], Iterator[str]], ...] = (
    csv_problems,
    prediction_problems,
    certificate_problems,
    gallery_problems,
    row_problems,
    sample_problems,
    model_problems,
    map_problems,
)


def run_problems(folder: Path, *, source: str | None = None, samples: int = 32) -> list[str]:
    """Check a run folder.

    Checked are the checksums, where it was published; that summary, tests and predictions follow from scores,
    probabilities and data; that the scores are those of the record, with the targets and certificates of
    their samples; that models, maps and data match the record and are undamaged; that some samples are rendered
    again bit for bit, and that the scores of some follow from their maps. Without maps the checks that need them are
    skipped, and a run that was rewritten consistently passes.

    Parameters
    ----------
    folder
        The run.
    source
        The source data that its data set was made from, where that is not the generator's default.
    samples
        Number of samples to render and to score again; 0 for none.

    Returns
    -------
    One line for each problem; none for a sound run.
    """
    problems = file_problems(folder) if (folder / checksums.FILE).is_file() else []
    try:
        with content_faults([folder]):
            run = CheckedRun(folder, RunRecord.read(folder / RECORD), source)
    except SalgenError as error:
        return [*problems, str(error)]
    content = [problem for check in CHECKS for problem in _problems(run, check)]
    content += _problems(run, lambda run: data_problems(run, samples))
    if not content:
        content = _problems(run, lambda run: recompute_problems(run, samples))
    return list(dict.fromkeys([*problems, *content]))


def _problems(run: CheckedRun, check: Callable[[CheckedRun], Iterator[str]]) -> list[str]:
    """The problems that one check finds, up to the first file that it cannot read."""
    problems: list[str] = []
    try:
        with content_faults([run.folder]):
            problems.extend(check(run))
    except SalgenError as error:
        problems.append(str(error))
    except (pa.ArrowException, OSError, RuntimeError) as error:
        problems.append(f"{run.folder} has content that `salgen evaluate` does not write ({reason(error)})")
    return problems


def data_problems(run: CheckedRun, samples: int) -> Iterator[str]:
    """Problems of the data of the split that a run keeps."""
    if run.plan is None:
        return
    plan, data, split = run.plan, run.folder / DATA, run.plan.dataset.split
    manifest = read_manifest(data)
    manifest = replace(manifest, spec=replace(manifest.spec, splits={split: manifest.spec.splits[split]}))
    expected = {
        "image_size": list(manifest.spec.image_size),
        "tasks": {task: list(names) for task, names in plan.dataset.tasks.items()},
        "multi_label": list(manifest.multi_label),
        "valid_region": plan.dataset.valid_region,
        "split_total": len(plan.dataset),
        "considered": plan.considered,
        "with_mask": len(plan.scored),
        "variants": list(plan.variants),
        "headline_variant": next(iter(plan.variants)),
    }
    if run.record.dataset.redistributable is not None:  # None in older runs
        expected["redistributable"] = manifest.redistributable
    recorded = {**vars(run.record), **vars(run.record.dataset), **vars(run.record.samples)}
    for name, value in expected.items():
        if recorded[name] != value:
            yield f"{run.folder / RECORD}: {name} is {recorded[name]}, and should be {value} by the data in {DATA}"
    for shard in shards_of(manifest):
        yield from shard_problems(data, manifest, shard)
    count = min(samples, len(plan.dataset))
    yield from rendering_problems(data, manifest, shards_of(manifest), run.source, count)
