"""Execution of a plan: every map is scored, and the run folder's files are written."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from time import monotonic

from salgen.datasets.execution.executors import Executor
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, ScoreChunk
from salgen.evaluation.runs.artifacts.predictions import write_predictions
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
from salgen.evaluation.statistics.intervals import near_chance
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
    for runner in runners:
        _warn_of_chance(runner)
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


def _warn_of_chance(runner: ModelRunner) -> None:
    accuracy, chance = runner.predictions.accuracy, runner.predictions.chance
    if near_chance(accuracy, chance):
        name = f"{runner.model.name} seed {runner.model.seed}"
        message = f"{name} has not learnt the task (accuracy {accuracy:.1%}, chance {chance:.1%}): its maps mean little"
        warnings.warn(message, SalgenWarning, stacklevel=2)


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
