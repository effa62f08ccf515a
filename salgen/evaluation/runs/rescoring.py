"""Scoring the maps of a run again, under other metrics: no GPU, and where the maps suffice no model either."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.models.inspection.memory import memory_budget
from salgen.evaluation.report.runs import content_faults
from salgen.evaluation.runs.artifacts.conventions import Conventions
from salgen.evaluation.runs.artifacts.saved_maps import OF_SAMPLES, folder_name
from salgen.evaluation.runs.pipeline import check_run_folder, execute_run, run_folder
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.source_run import SourceRun
from salgen.evaluation.scoring.metric_selection import DEFAULT, swept
from salgen.parameters import build, parse_call
from salgen.registry import METHODS

ASKING = frozenset({"model", "method"})


def rescore(
    maps: str | os.PathLike[str],
    *,
    metrics: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    scale: str = "small",
    max_memory: float | None = None,
    source: str | None = None,
    command: Sequence[str] | None = None,
) -> Path:
    """Score the maps that a run kept, and write a run folder.

    Data, models, methods and conventions are those of the run; its predictions and certificates are taken over.

    Parameters
    ----------
    maps
        A run that ``evaluate(..., keep_maps=True)`` wrote, or an archive of one.
    metrics
        As for :func:`salgen.evaluate`. Those that ask the model need its weights in the run; those that look at
        second maps (of twins, of a paired model) need them among the maps that were kept.
    path
        The data set, as a folder or an archive, where the run does not hold its pixels and a metric looks at them.
    out
        The new run folder; ``runs/<data set>-<models>-rescored`` by default.
    limit
        Only the first `limit` samples of the split.
    scale
        How many samples the expensive metrics draw.
    max_memory
        GB that asking the model may use; half of what is free by default.
    source
        The outside material, where the run's data set holds recipes only and was made from the user's own.
    command
        What to record as the command.

    Returns
    -------
    The run folder.

    Raises
    ------
    SalgenError
        If the run kept no maps, is damaged, or lacks what a metric needs.
    """
    started = time.monotonic()
    with content_faults([Path(maps)]):
        given = SourceRun.read(maps)
        methods = {call: METHODS.create(*parse_call(call)) for call in given.calls}
        conventions, models = _conventions(given, limit), given.subjects
    dataset = given.dataset(path, source)
    chosen = _metrics(metrics, scale, given, dataset)
    memory_budget(torch.device("cpu"), max_memory)  # that it is no number is better known before any work
    plan = Plan(dataset, models, methods, chosen, conventions, given.left_out, max_memory, given=given)
    plan.check_scored()
    models_named = "-".join(dict.fromkeys(folder_name(subject.name) for subject in models))
    run = Path(out) if out is not None else Path("runs") / f"{dataset.name}-{models_named}-rescored"
    if run.resolve() == given.folder.resolve():
        raise SalgenError(f"{run} is the run whose maps are scored: choose another folder with --out")
    check_run_folder(run, dataset, given.digest)
    try:
        with run_folder(run):
            return execute_run(plan, run, started, command=command)
    except SalgenError as error:  # a stranger knows the archive, and not where it was unpacked
        raise SalgenError(str(error).replace(str(given.folder), given.called)) from None


def _conventions(given: SourceRun, limit: int | None) -> Conventions:
    """Those of the run, for as many samples or fewer."""
    conventions = build(Conventions, given.record["conventions"])
    if limit is None:
        return conventions
    fewer = build(Conventions, {**given.record["conventions"], "limit": limit})
    if conventions.limit is not None and limit > conventions.limit:
        raise SalgenError(f"limit = {limit}: the run holds maps of the first {conventions.limit} samples")
    return fewer


def _metrics(calls: Sequence[str] | None, scale: str, given: SourceRun, dataset: Dataset) -> dict[str, Metric]:
    """The metrics by their calls, which the run must have all that is needed for."""
    there = _there(given, dataset)
    chosen = swept(calls or DEFAULT, there, scale)
    for call, metric in chosen.items():
        for need in sorted(metric.needs - there):
            raise SalgenError(f"metric {call!r} cannot be scored from these maps: {_lacking(need, given, dataset)}")
    return chosen


def _there(given: SourceRun, dataset: Dataset) -> frozenset[str]:
    """What metrics may need and is there."""
    found = {*OF_THE_MASK, "target", "correct", *(given.kinds - {OF_SAMPLES})}
    if dataset.manifest.pixels:
        found |= {"image", *(ASKING if given.has_models else ()), *(("twin",) if dataset.manifest.twins else ())}
    return frozenset(found)


def _lacking(need: str, given: SourceRun, dataset: Dataset) -> str:
    """Why something that a metric needs is not there, and what to do."""
    if need == "training":
        return "it trains the model again; use 'salgen evaluate' on the data set"
    if need.endswith("_maps"):
        return f"it looks at {need.replace('_', ' ')}, and the run kept none; evaluate it there with --keep-maps"
    if not dataset.manifest.pixels:
        return "it looks at images, and this run holds none; give the data set too, as PATH"
    if need in ASKING and not given.has_models:
        return "it asks the model, and the run does not hold its weights"
    return f"it looks at the {need}, and there is none"
