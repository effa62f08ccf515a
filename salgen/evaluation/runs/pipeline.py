"""From a plan to a run folder: every map scored, and the files that say what came out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic

from salgen.datasets.execution.executors import Executor
from salgen.datasets.format.manifest import FILE as MANIFEST
from salgen.datasets.format.output_folder import sole_writer
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.chunk_files import PARTS
from salgen.evaluation.runs.artifacts.predictions import write_predictions
from salgen.evaluation.runs.artifacts.score_table import write_scores
from salgen.evaluation.runs.certificate import Certification, certify
from salgen.evaluation.runs.chunk_executors import scoring_by
from salgen.evaluation.runs.gallery_maps import save_gallery
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.retraining import retrain
from salgen.evaluation.runs.run_record import RECORD, write_run_record
from salgen.evaluation.runs.run_snapshot import keep_for_scoring
from salgen.evaluation.statistics.comparisons import write_comparisons
from salgen.evaluation.statistics.score_cube import SCORES, read_scores
from salgen.evaluation.statistics.summary import write_summary
from salgen.files import remove_temporaries


def check_run_folder(run: Path, dataset: Dataset, scored_from: str | None = None) -> None:
    """Whether a run on a data set may be written to a folder.

    Parameters
    ----------
    scored_from
        The digest of the run whose maps are to be scored, if any.

    Raises
    ------
    SalgenError
        If the folder is a data set, or holds a finished run on another one or of another run's maps.
    """
    if (run / MANIFEST).exists():
        raise SalgenError(f"{run} is a data set: choose another folder for the run")
    try:
        record = json.loads((run / RECORD).read_text(encoding="utf-8"))
        there, source = record["dataset"], record.get("scored_from")
        name, fingerprint, split = there["name"], there["fingerprint"], there["split"]
        digest = None if source is None else source["record_sha256"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or none that says
        return
    if (fingerprint, split) != (dataset.fingerprint, dataset.split):
        raise SalgenError(f"{run} holds a run on {name}, split {split}: choose another folder, or remove it")
    if digest != scored_from:
        what = "a run that explained its maps itself" if digest is None else "scores of another run's maps"
        raise SalgenError(f"{run} holds {what}: choose another folder, or remove it")


@contextmanager
def run_folder(run: Path) -> Iterator[None]:
    """Make a run's folder, and keep other processes from writing to it; left empty, it is removed again.

    Raises
    ------
    SalgenError
        If it cannot be made, or another process is writing to it.
    """
    with sole_writer(run):
        try:
            run.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SalgenError(f"{run} cannot be made: {error.strerror or error}") from None
        try:
            yield
        except BaseException:
            with suppress(OSError):
                run.rmdir()
            raise


def execute_run(
    plan: Plan,
    run: Path,
    started: float,
    *,
    source: str | None = None,
    executor: Executor | None = None,
    command: Sequence[str] | None = None,
) -> Path:
    """Explain and score what a stopped run has not, and write the run's files.

    Parameters
    ----------
    plan
        What to do, with its models.
    run
        The folder, which is there.
    started
        ``time.monotonic()`` when the work began.
    source
        The outside material the data set was made from, where that is not the generator's default.
    executor
        What explains and scores; this process if None.
    command
        What to record as the command.

    Returns
    -------
    The folder.
    """
    (run / PARTS).mkdir(exist_ok=True)
    remove_temporaries(run, below=True)
    with scoring_by(executor or Executor(), run) as (score, device):
        plan = plan.changed(device=device)
        works = [ModelRunner(plan, subject, run) for subject in plan.models]
        for work in works:
            work.finish(score)
    units = [unit for work in works for unit in work.units]
    predictions = [work.predictions for work in works]
    who = [(work.subject.name, work.subject.seed) for work in works]
    write_predictions(run, [str(name) for name in plan.dataset.column("id")], who, predictions)
    certificates = _certificates(plan, works, run, source)
    write_scores(units, plan.of_maps, run / SCORES, plan.dataset.name, certificates.certified, others=retrain(works))
    if plan.given is not None:
        plan.given.copy_gallery(run)
    else:
        save_gallery(plan, works[0].subject, predictions[0], works[0].patterns, run)
    if plan.keep_maps:
        keep_for_scoring(plan, run)
    patterns = [work.patterns for work in works]
    kept = {name: key for work in works for name, key in work.kept_files.items()}
    write_run_record(plan, predictions, patterns, certificates, units, kept, run, monotonic() - started, command)
    cube = read_scores(run)
    write_summary(run, cube)
    write_comparisons(run, cube)
    return run


def _certificates(plan: Plan, works: Sequence[ModelRunner], run: Path, source: str | None) -> Certification:
    return certify(works, source) if plan.given is None else plan.given.copy_certificates(run)
