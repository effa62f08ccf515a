"""Verification of a run: what can be computed again is computed again and compared with the files."""

from __future__ import annotations

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
from salgen.evaluation.runs.run_snapshot import DATA
from salgen.evaluation.verification.checked_run import CheckedRun
from salgen.evaluation.verification.derived_tables import (
    certificate_problems,
    csv_problems,
    gallery_problems,
    prediction_problems,
)
from salgen.evaluation.verification.maps import map_problems, model_problems
from salgen.evaluation.verification.recompute import recompute_problems
from salgen.evaluation.verification.scores import row_problems, standing_problems

CHECKS: tuple[Callable[[CheckedRun], Iterator[str]], ...] = (
    csv_problems,
    prediction_problems,
    certificate_problems,
    gallery_problems,
    row_problems,
    standing_problems,
    model_problems,
    map_problems,
)


def run_problems(folder: Path, *, source: str | None = None, samples: int = 32) -> list[str]:
    """Check a run folder.

    Checked are the checksums, where it was published; that summary, tests and predictions follow from scores,
    probabilities and data; that the scores are those that the record speaks of, with the targets and certificates of
    their samples; that models, maps and data are whole and those of the record; that some samples are rendered again
    bit for bit, and that the scores of some follow from their maps. Where a run keeps no maps, what takes them is not
    checked, and one that was rewritten consistently passes.

    Parameters
    ----------
    folder
        The run.
    source
        The outside material that its data set was made from, where that is not the generator's default.
    samples
        How many samples to render and to score again; 0 for none.

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
    found = [problem for check in CHECKS for problem in _problems(run, check)]
    found += _problems(run, lambda run: data_problems(run, samples))
    if not found:
        found = _problems(run, lambda run: recompute_problems(run, samples))
    return list(dict.fromkeys([*problems, *found]))


def _problems(run: CheckedRun, check: Callable[[CheckedRun], Iterator[str]]) -> list[str]:
    """The problems that one check finds, up to the first file that it cannot read."""
    found: list[str] = []
    try:
        with content_faults([run.folder]):
            found.extend(check(run))
    except SalgenError as error:
        found.append(str(error))
    except (pa.ArrowException, OSError, RuntimeError) as error:
        found.append(f"{run.folder} holds what `salgen evaluate` does not write ({reason(error)})")
    return found


def data_problems(run: CheckedRun, samples: int) -> Iterator[str]:
    """Problems of the data that a run keeps, which are those of one split."""
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
    if run.record.dataset.redistributable is not None:  # which older runs do not say
        expected["redistributable"] = manifest.redistributable
    recorded = {**vars(run.record), **vars(run.record.dataset), **vars(run.record.samples)}
    for name, value in expected.items():
        if recorded[name] != value:
            yield f"{run.folder / RECORD}: {name} is {recorded[name]}, and should be {value} by the data in {DATA}"
    for shard in shards_of(manifest):
        yield from shard_problems(data, manifest, shard)
    count = min(samples, len(plan.dataset))
    yield from rendering_problems(data, manifest, shards_of(manifest), run.source, count)
