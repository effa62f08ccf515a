"""Is a run what it says it is? Its files, what follows from what, and some samples scored and explained again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from salgen.datasets.format import checksums
from salgen.datasets.format.manifest import Manifest, read_manifest
from salgen.datasets.format.shards import shards_of
from salgen.datasets.verification.row_checks import shard_problems
from salgen.datasets.verification.spot_checks import rendering_problems
from salgen.datasets.verification.verify_dataset import file_problems
from salgen.errors import SalgenError, reason
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord, content_faults
from salgen.evaluation.runs.run_snapshot import DATA
from salgen.evaluation.verification.maps import map_problems, model_problems
from salgen.evaluation.verification.recompute import again_problems
from salgen.evaluation.verification.rows import row_problems
from salgen.evaluation.verification.run_predictions import CheckedRun
from salgen.evaluation.verification.scores import key_problems, worst_case_problems
from salgen.evaluation.verification.tables import (
    certificate_problems,
    comparison_problems,
    gallery_problems,
    prediction_problems,
    summary_problems,
)

CHECKS: tuple[Callable[[CheckedRun], Iterator[str]], ...] = (
    summary_problems,
    comparison_problems,
    prediction_problems,
    certificate_problems,
    gallery_problems,
    key_problems,
    worst_case_problems,
    row_problems,
    model_problems,
    map_problems,
)


def run_problems(folder: Path, *, source: str | None = None, samples: int = 32) -> list[str]:
    """Check a run folder.

    Checked are the checksums, where it was published; that each score of which the record speaks is there once, and
    that summary, tests, the record's figures and every row follow from scores, predictions and certificates; that
    models, data and maps are those of the record; and for some samples that they are rendered again, that their
    scores come out of their maps, and that the model says the same of them and is explained alike.

    Nothing tells a run whose texts (README, report, citation) or timings were rewritten together with the checksums,
    and in scores and maps of samples that were not drawn, a change is found only where something else would have to
    follow from them. Where a run keeps no maps, no images or no models, what takes them is not checked.

    Parameters
    ----------
    folder
        The run.
    source
        The outside material that its data set was made from, where that is not the generator's default.
    samples
        How many samples to render and to score again; 0 for none, and then nothing is asked or explained again.

    Returns
    -------
    One line for each problem; none for a sound run.
    """
    problems = file_problems(folder) if (folder / checksums.FILE).is_file() else []
    try:
        with content_faults([folder]):
            run = CheckedRun(folder, RunRecord.read(folder / RECORD).to_json(), source)
    except SalgenError as error:
        return [*problems, str(error)]
    found = [problem for check in CHECKS for problem in _of(check, run)]
    found += _of(lambda run: data_problems(run, source, samples), run)
    found += [] if found else _of(lambda run: again_problems(run, samples), run)
    return list(dict.fromkeys([*problems, *found]))


def _of(check: Callable[[CheckedRun], Iterator[str]], run: CheckedRun) -> list[str]:
    """What one check finds, up to what cannot be read."""
    found: list[str] = []
    try:
        with content_faults([run.folder]):
            found.extend(check(run))
    except SalgenError as error:
        found.append(str(error))
    except (pa.ArrowException, OSError, RuntimeError) as error:
        found.append(f"{run.folder} holds what `salgen evaluate` does not write ({reason(error)})")
    return found


def data_problems(run: CheckedRun, source: str | None, samples: int) -> Iterator[str]:
    """What is wrong with the data that a run keeps: those of the split that it was evaluated on."""
    if run.given is None or run.dataset is None:
        return
    data, split, told = run.folder / DATA, run.dataset.split, run.record["dataset"]
    described = _only(read_manifest(data), split)
    known = {
        "generator": described.spec.generator,
        "image_size": list(described.spec.image_size),
        "tasks": {task: list(names) for task, names in run.dataset.tasks.items()},
        "multi_label": list(described.multi_label),
        "valid_region": run.dataset.valid_region,
        "redistributable": described.redistributable,
    }
    for name, value in known.items():
        if told.get(name, value) != value:
            yield f"{run.folder / RECORD}: its data set's {name} is not that of {DATA}"
    for shard in shards_of(described):
        yield from shard_problems(data, described, shard)
    count = min(samples, described.spec.splits[split])
    yield from rendering_problems(data, described, shards_of(described), source, count)


def _only(manifest: Manifest, split: str) -> Manifest:
    """A data set's description with one split alone."""
    if split not in manifest.spec.splits:
        raise SalgenError(f"{RECORD} speaks of split {split!r}, which {DATA} does not have")
    return replace(manifest, spec=replace(manifest.spec, splits={split: manifest.spec.splits[split]}))
