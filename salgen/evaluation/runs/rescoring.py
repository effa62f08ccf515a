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
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS, OF_THE_MASK, MapKind
from salgen.evaluation.models.inspection.memory import memory_budget
from salgen.evaluation.runs.artifacts.conventions import Conventions
from salgen.evaluation.runs.artifacts.run_record import content_faults
from salgen.evaluation.runs.artifacts.saved_maps import folder_name
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
        source_run = SourceRun.read(maps)
        methods = {call: METHODS.create(*parse_call(call)) for call in source_run.calls}
        conventions, models = _conventions(source_run, limit), source_run.models
    dataset = source_run.dataset(path, source)
    chosen = _metrics(metrics, scale, source_run, dataset)
    memory_budget(torch.device("cpu"), max_memory)  # that it is no number is better known before any work
    left_out = source_run.record.left_out
    plan = Plan.of(
        dataset, conventions, models, methods, chosen, left_out=left_out, max_memory=max_memory, source_run=source_run
    )
    models_named = "-".join(dict.fromkeys(folder_name(model.name) for model in models))
    run = Path(out) if out is not None else Path("runs") / f"{dataset.name}-{models_named}-rescored"
    if run.resolve() == source_run.folder.resolve():
        raise SalgenError(f"{run} is the run whose maps are scored: choose another folder with --out")
    check_run_folder(run, dataset, source_run.digest)
    try:
        with run_folder(run):
            return execute_run(plan, run, started, command=command)
    except SalgenError as error:  # a stranger knows the archive, and not where it was unpacked
        raise SalgenError(str(error).replace(str(source_run.folder), source_run.called)) from None


def _conventions(source_run: SourceRun, limit: int | None) -> Conventions:
    """Those of the run, for as many samples or fewer."""
    conventions = build(Conventions, source_run.record.conventions)
    if limit is None:
        return conventions
    fewer = build(Conventions, {**source_run.record.conventions, "limit": limit})
    if conventions.limit is not None and limit > conventions.limit:
        raise SalgenError(f"limit = {limit}: the run holds maps of the first {conventions.limit} samples")
    return fewer


def _metrics(calls: Sequence[str] | None, scale: str, source_run: SourceRun, dataset: Dataset) -> dict[str, Metric]:
    """The metrics by their calls, which the run must have all that is needed for."""
    offered = _offered(source_run, dataset)
    chosen = swept(calls or DEFAULT, offered, scale)
    for call, metric in chosen.items():
        for need in sorted(metric.needs - offered):
            why = _lacking(need, source_run, dataset)
            raise SalgenError(f"metric {call!r} cannot be scored from these maps: {why}")
    return chosen


def _offered(source_run: SourceRun, dataset: Dataset) -> frozenset[str]:
    """What metrics may need and is there."""
    offered = {*OF_THE_MASK, "target", "correct", *(source_run.kinds - {MapKind.SAMPLES})}
    if dataset.manifest.pixels:
        offered |= {"image", *(ASKING if source_run.has_models else ()), *(("twin",) if dataset.manifest.twins else ())}
    return frozenset(offered)


def _lacking(need: str, source_run: SourceRun, dataset: Dataset) -> str:
    """Why something that a metric needs is not there, and what to do."""
    if need == "training":
        return "it trains the model again; use 'salgen evaluate' on the data set"
    if need in COUNTERPARTS:
        return f"it looks at {need.replace('_', ' ')}, and the run kept none; evaluate it there with --keep-maps"
    if not dataset.manifest.pixels:
        return "it looks at images, and this run holds none; give the data set too, as PATH"
    if need in ASKING and not source_run.has_models:
        return "it asks the model, and the run does not hold its weights"
    return f"it looks at the {need}, and there is none"
