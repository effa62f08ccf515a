"""The folder of a run, what it may hold already, and the execution of a plan in it."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any
from salgen.datasets.execution.executors import Executor
from salgen.datasets.format.checksums import FILE as SUMS
from salgen.datasets.format.manifest import FILE as MANIFEST
from salgen.datasets.format.output_folder import sole_writer
from salgen.datasets.reading.reader import Dataset
from salgen.errors import FailedMethodError, SalgenError, warn
from salgen.evaluation.attribution.method_selection import check_some_work
from salgen.evaluation.models.inspection.memory import give_back_freed_memory
from salgen.evaluation.runs.artifacts.chunk_files import PARTS
from salgen.evaluation.runs.artifacts.predictions import write_predictions
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import folder_name
from salgen.evaluation.runs.artifacts.score_table import write_scores
from salgen.evaluation.runs.certify import certify
from salgen.evaluation.runs.composing import compose_run
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import Identity
from salgen.evaluation.runs.given_models import GivenModel
from salgen.evaluation.runs.measuring import estimate, measure_costs
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.ray_work import RayWorkers, ray_workers
from salgen.evaluation.runs.recording import run_record
from salgen.evaluation.runs.retraining import retrain
from salgen.evaluation.runs.source_run import keep_for_scoring
from salgen.evaluation.statistics.accuracy import near_chance
from salgen.evaluation.statistics.run_tables import write_tables
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.files import remove_temporaries
from salgen.parameters import to_json
from salgen.progress import progress
from salgen.registry import MODELS

PREPROCESS = {key: f"preprocess ({key})" for key in ("mean", "std", "channel_order")}
DEFAULTS = {"split": "test", "scale": "small", **to_json(Conventions())}


def default_run(dataset: str | os.PathLike[str], model: str | Path | GivenModel, options: Mapping[str, Any]) -> Path:
    """The default folder of a run: ``runs/<data set>-<model>``, and every option that is not the default."""
    if isinstance(model, GivenModel) or str(model) in MODELS.entries:
        name = folder_name(str(model).replace(":", "-"))
    else:
        name = "-".join(Path(model).resolve().parts[-2:])
    stated = [f"-{key}-{value}" for key, value in options.items() if value not in (None, DEFAULTS.get(key))]
    chosen = folder_name("".join(stated).strip("-")) if stated else ""
    return Path("runs") / "-".join(filter(None, [Path(dataset).resolve().name, name, chosen]))


def run_to_extend(
    run: Path,
    dataset: Dataset,
    conventions: Conventions,
    models: Sequence[Identity],
    *,
    second_model: str | None = None,
    scored_from: str | None = None,
    replace: bool = False,
) -> RunRecord | None:
    """The finished run in a folder, to which methods and metrics may be added, or None; `scored_from` is a SHA-256."""
    if (run / MANIFEST).exists():
        raise SalgenError(f"{run} is a data set: choose another folder for the run")
    begun = (run / RECORD).exists() or (run / PARTS).is_dir() or any(run.glob("*-seed*"))
    if run.exists() and not begun and not (run.is_dir() and not any(run.iterdir())):
        raise SalgenError(f"{run} exists and is not a run: choose another folder, or an empty one")
    if replace or not (run / RECORD).is_file():
        return None
    try:
        record = RunRecord.read(run / RECORD)
    except SalgenError:  # a damaged record does not say of which run it is
        return None
    earlier = {**to_json(Conventions()), **record.conventions}  # an older run may not know a convention
    held_from = record.scored_from and record.scored_from["record_sha256"]
    held_models = ", ".join(f"{model.name} seed {model.seed}" for model in record.models)
    compared = [
        ("data set", record.dataset.name, dataset.name),
        ("fingerprint", record.dataset.fingerprint[:12], dataset.fingerprint[:12]),
        ("split", record.dataset.split, dataset.split),
        ("maps", *(f"of run {of[:12]}" if of else "of its own" for of in (held_from, scored_from))),
        ("models", held_models, ", ".join(f"{name} seed {seed}" for name, seed, *_ in models)),
        *((name, earlier[name], value) for name, value in to_json(conventions).items()),
    ]
    for model, (_, seed, digest, here) in zip(record.models, models, strict=False):
        there = (model.settings or {}) if model.trained_on is None else {}
        for key in {**there, **here}:
            compared.append((PREPROCESS.get(key, key), there.get(key), here.get(key)))
        if digest is not None and there == here:  # else it differs anyhow, as the logits are in it
            compared.append((f"weights of seed {seed}", model.weights_sha256[:12], digest[:12]))
    if second_model is not None and record.paired_model:
        second = record.paired_model[0]
        held_second = second.task if second_model == second.task else second.checkpoint
        compared.append(("second model", held_second, second_model))
    different = [f"{name} {held} there, {here} here" for name, held, here in compared if held != here]
    if different:
        raise SalgenError(f"{run} holds another experiment ({'; '.join(different)}): give another folder, or --replace")
    return record


def say_what_is_added(run: Path, held: RunRecord, methods: Collection[str], metrics: Collection[str]) -> None:
    """Warn that a run is extended, and with which methods and metrics."""
    earlier = {*held.metrics, *(method.call for method in held.methods)}
    if added := [call for call in (*methods, *metrics) if call not in earlier]:
        warn(f"{run} holds this experiment already: adding {', '.join(added)}")


@contextmanager
def run_folder(run: Path, *, replace: bool = False) -> Iterator[None]:
    """Make a run's folder, and keep other processes from writing to it; on an error an empty one is removed.

    With `replace` a finished run in it is removed first; one that was stopped goes on.
    """
    with sole_writer(run):
        if not replace and (run / SUMS).is_file():
            raise SalgenError(f"{run} holds a published run, whose `salgen verify` would fail: choose another --out")
        if replace and (run / RECORD).is_file():
            shutil.rmtree(run)
        run.mkdir(parents=True, exist_ok=True)
        try:
            yield
        except BaseException:
            with suppress(OSError):
                run.rmdir()
            raise


def execute_run(
    plan: Plan, run: Path, started: float, *, source: str | None = None, executor: Executor | None = None
) -> Path:
    """Explain and score whatever a stopped run has not, write the run's files, and return its folder, which exists.

    A method that fails is left out, and the rest goes on. `started` is ``time.monotonic()`` when the work began; Ray's
    `executor` does the work, or this process.
    """
    while True:
        try:
            return _execute(plan, run, started, source=source, executor=executor)
        except FailedMethodError as failure:
            methods = {call: method for call, method in plan.methods.items() if call != failure.call}
            left_out = {**plan.left_out, failure.call: str(failure)}
            check_some_work(methods, plan.methods, left_out)
            warn(f"{failure.call} is left out of {run}: {failure}")
            plan = replace(plan, methods=methods, left_out=left_out)


def _execute(plan: Plan, run: Path, started: float, *, source: str | None, executor: Executor | None) -> Path:
    (run / PARTS).mkdir(exist_ok=True)
    remove_temporaries(run, below=True)
    with ray_workers(executor, run) if executor else nullcontext() as workers:
        plan = replace(plan, device=workers.device if workers else None)
        runners = [ModelRunner(plan, model, run) for model in plan.models]
        for runner in runners:
            _write_missing(runner, workers)
            accuracy, chance = runner.predictions.accuracy, runner.predictions.chance
            if near_chance(accuracy, chance):
                learnt = f"has not learnt the task (accuracy {accuracy:.1%}, chance {chance:.1%}): its maps mean little"
                warn(f"{runner.model.name} seed {runner.model.seed} {learnt}")
        elsewhere = partial(workers.certify, source=source) if workers else None
        certificates = plan.source_run.certificates if plan.source_run else certify(runners, source, elsewhere)
    composites = compose_run(runners)
    give_back_freed_memory()
    models = [(model.name, model.seed) for model in plan.models]
    write_predictions(run, plan.dataset.ids, models, [runner.predictions for runner in runners])
    chunks = [chunk for runner in runners for chunk in runner.all_chunks]
    write_scores(chunks, plan.of_maps, run / SCORES, plan.dataset.name, certificates.certified, retrain(runners))
    if plan.source_run is None:
        runners[0].gallery.write(runners[0].explain, runners[0].predictions.predicted)
    else:
        plan.source_run.copy_files(run)
    if plan.keep_maps:
        keep_for_scoring(plan.dataset, plan.models, run)
    write_tables(run)
    run_record(runners, certificates, composites, monotonic() - started).write(run)  # last: the run is finished
    return run


def _write_missing(runner: ModelRunner, workers: RayWorkers | None) -> None:
    """Write the missing scores of a model, in this process or by Ray workers, and say first what it will take."""
    missing = {number: chunks for number in range(len(runner.chunks)) if (chunks := runner.missing(number))}
    label = "score" if runner.plan.source_run else "explain and score"
    label = f"{label}, {runner.model.name} seed {runner.model.seed}"
    if missing:
        measure_costs(runner, {chunk.call for chunk in chain.from_iterable(missing.values())})
    images: Counter[str] = Counter()
    for chunk in chain.from_iterable(missing.values()):
        images[chunk.call] += sum(len(piece.indices) for piece in runner.pieces(chunk) if not runner.is_done(piece))
    if expected := estimate(runner, images):
        print(f"{label}: {expected}", file=sys.stderr, flush=True)
    work = {call: runner.costs.of_method(call, len(runner.plan.kinds)) for call in images}
    total, in_all = len(runner.plan.scored) * len(runner.plan.methods), sum(images[call] * work[call] for call in work)
    with progress(label, total, "maps", done=total - images.total(), work=in_all) as advance:
        here = (written for number in missing for written in runner.write(number, runner.predicted(number)))
        for call, count in workers.write(runner, missing) if workers else here:
            advance(count, count * work[call])
