"""Execution of a plan: every map is scored, and the run folder's files are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

from salgen.datasets.execution.executors import Executor
from salgen.datasets.format.manifest import FILE as MANIFEST
from salgen.datasets.format.output_folder import sole_writer
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, ScoreChunk
from salgen.evaluation.runs.artifacts.predictions import write_predictions
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.runs.artifacts.score_table import write_scores
from salgen.evaluation.runs.certificate import certify
from salgen.evaluation.runs.gallery_maps import save_gallery
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.ray_work import RayWorkers, check_address_of, ray_workers
from salgen.evaluation.runs.recording import run_record
from salgen.evaluation.runs.retraining import retrain
from salgen.evaluation.runs.run_snapshot import keep_for_scoring
from salgen.evaluation.statistics.comparisons import write_comparisons
from salgen.evaluation.statistics.score_cube import SCORES, read_scores
from salgen.evaluation.statistics.summary import write_summary
from salgen.files import remove_temporaries
from salgen.progress import progress


def ray_executor(name: str, workers: int | None, address: str | None) -> Executor | None:
    """The Ray executor, checked before any work; None for this process.

    Raises
    ------
    SalgenError
        If the arguments do not fit together, Ray is not installed, or none answers at the address.
    """
    if (name, workers, address) == ("local", None, None):
        return None
    executor = Executor(name, workers, address)
    if name != "ray":
        raise SalgenError(f"workers = {workers}: only for executor = ray; otherwise this process does all the work")
    check_address_of(executor)
    return executor


def check_run_folder(run: Path, dataset: Dataset, scored_from: str | None = None) -> None:
    """Raise a SalgenError if a run on a data set may not be written to a folder.

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
    if not (run / RECORD).is_file():
        return
    try:
        record = RunRecord.read(run / RECORD)
    except SalgenError:  # a damaged record does not say of which run it is
        return
    evaluated = record.dataset
    if (evaluated.fingerprint, evaluated.split) != (dataset.fingerprint, dataset.split):
        raise SalgenError(
            f"{run} holds a run on {evaluated.name}, split {evaluated.split}: choose another folder, or remove it"
        )
    digest = record.scored_from and record.scored_from.record_sha256
    if digest != scored_from:
        contents = "a run that explained its maps itself" if digest is None else "scores of another run's maps"
        raise SalgenError(f"{run} holds {contents}: choose another folder, or remove it")


@contextmanager
def run_folder(run: Path) -> Iterator[None]:
    """Make a run's folder, and keep other processes from writing to it; on an error an empty one is removed.

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
    """Explain and score whatever a stopped run has not, and write the run's files.

    Parameters
    ----------
    plan
        The plan, with its models.
    run
        The folder, which exists.
    started
        ``time.monotonic()`` when the work began.
    source
        The source data that the data set was made from, where that is not the generator's default.
    executor
        The Ray executor that explains and scores; this process if None.
    command
        The command line to record.

    Returns
    -------
    The folder.
    """
    (run / PARTS).mkdir(exist_ok=True)
    remove_temporaries(run, below=True)
    with ray_workers(executor, run) if executor else nullcontext() as workers:
        plan = replace(plan, device=workers.device if workers else None)
        runners = [ModelRunner(plan, model, run) for model in plan.models]
        for runner in runners:
            _write_missing(runner, workers)
    models = [(model.name, model.seed) for model in plan.models]
    write_predictions(run, plan.dataset.ids, models, [runner.predictions for runner in runners])
    certificates = certify(runners, source) if plan.source_run is None else plan.source_run.copy_certificates(run)
    chunks = [chunk for runner in runners for chunk in runner.all_chunks]
    write_scores(chunks, plan.of_maps, run / SCORES, plan.dataset.name, certificates.certified, retrain(runners))
    if plan.source_run is None:
        save_gallery(runners[0])
    else:
        plan.source_run.copy_gallery(run)
    if plan.keep_maps:
        keep_for_scoring(plan.dataset, plan.models, run)
    run_record(runners, certificates, monotonic() - started, command).write(run)
    cube = read_scores(run)
    write_summary(run, cube)
    write_comparisons(run, cube)
    return run


def _write_missing(runner: ModelRunner, workers: RayWorkers | None) -> None:
    """Write the missing scores of a model, in this process or by Ray workers."""
    missing = {number: chunks for number in range(len(runner.chunks)) if (chunks := runner.missing(number))}
    total = len(runner.plan.scored) * len(runner.plan.methods)
    done = total - sum(len(chunk.indices) for chunks in missing.values() for chunk in chunks)
    label = "score" if runner.plan.source_run else "explain and score"
    with progress(f"{label}, {runner.model.name} seed {runner.model.seed}", total, "maps", done=done) as advance:
        written = workers.write(runner, missing) if workers else _written_here(runner, missing)
        for chunk in written:
            advance(len(chunk.indices))


def _written_here(runner: ModelRunner, numbers: Iterable[int]) -> Iterator[ScoreChunk]:
    for number in numbers:
        yield from runner.write(number, runner.predicted(number))
