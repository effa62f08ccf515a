"""Scoring a run's saved maps under other metrics, without a GPU, and without the model where maps suffice."""

import os
import time
from pathlib import Path
import torch
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError
from salgen.evaluation.attribution.file_maps import from_files
from salgen.evaluation.attribution.foreign_methods import ForeignMethod
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS, OF_THE_MASK, MapKind
from salgen.evaluation.models.inspection.batch_size import memory_budget
from salgen.evaluation.runs.artifacts.saved_maps import folder_name
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.given_models import is_designed
from salgen.evaluation.runs.pipeline import execute_run, run_folder, run_to_extend, say_what_is_added
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.source_run import Absent, SourceRun
from salgen.evaluation.scoring.metric_selection import Metrics, resolve_metrics
from salgen.parameters import build

MODEL_INPUTS = frozenset({"model", "method"})


def rescore(
    maps: str | os.PathLike[str],
    *,
    metrics: Metrics | None = None,
    dataset: str | os.PathLike[str] | Dataset | None = None,
    out: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    scale: str = "small",
    max_memory: float | None = None,
    source: str | None = None,
    replace: bool = False,
) -> Path:
    """Score the maps that a run kept, and write a run folder.

    Data, models, methods and options are those of the run; its predictions and certificates are reused.

    Parameters
    ----------
    maps
        A run that ``evaluate(..., keep_maps=True)`` wrote, or an archive of one.
    metrics
        As for :func:`salgen.evaluate`. Those that query the model need its weights in the run; those that compare
        with other maps (of twins, of a paired model) need the run to have kept them.
    dataset
        The data set, as a folder, an archive or a `Dataset`, if a metric needs pixels that the run does not hold.
    out
        The new run folder; ``runs/<data set>-<models>-rescored`` by default. If it holds scores of the same maps
        under other metrics, metrics are added to them.
    limit
        Only the first `limit` samples of the split.
    scale
        Sets the number of samples that expensive metrics draw.
    max_memory
        Memory in GB that querying the model may use; half of what is free by default.
    source
        The source data, if the run's data set holds recipes only and was made from the user's own copy.
    replace
        Remove a finished run in `out` first, whatever its experiment was.

    Returns
    -------
    The run, from ``salgen.rescore`` a :class:`~salgen.Run`.

    Raises
    ------
    SalgenError
        If the run kept no maps, is damaged, or lacks what a metric needs.
    """
    started = time.monotonic()
    source_run = SourceRun.read(maps)
    methods, conventions, models = source_run.methods, source_run.conventions, source_run.models
    if limit is not None:
        if conventions.limit is not None and limit > conventions.limit:
            raise SalgenError(f"limit = {limit}: the run holds maps of the first {conventions.limit} samples")
        conventions = build(Conventions, {**vars(conventions), "limit": limit})
    dataset = source_run.dataset(dataset, source)
    memory_budget(torch.device("cpu"), max_memory)  # raises for a wrong value before any work
    model_names = "-".join(dict.fromkeys(folder_name(model.name) for model in models))
    run = Path(out) if out is not None else Path("runs") / f"{dataset.name}-{model_names}-rescored"
    if run.resolve() == source_run.folder.resolve():
        raise SalgenError(f"{run} is the run whose maps are scored: choose another folder with --out")
    trained = [(model.name, model.seed, model.digest, model.stated) for model in models]
    held = run_to_extend(run, dataset, conventions, trained, scored_from=source_run.digest, replace=replace)
    chosen = resolve_metrics(metrics, held.metrics if held else [], scale, *_inputs(source_run, dataset))
    if held is not None:
        say_what_is_added(run, held, methods, chosen)
    left_out = source_run.record.left_out
    plan = Plan.of(
        dataset, conventions, models, methods, chosen, left_out=left_out, max_memory=max_memory, source_run=source_run
    )
    try:
        with run_folder(run, replace=replace):
            return execute_run(plan, run, started)
    except SalgenError as error:  # name the archive, not the folder it was unpacked to
        raise SalgenError(str(error).replace(str(source_run.folder), source_run.given_path)) from None


def _inputs(source_run: SourceRun, dataset: Dataset) -> tuple[frozenset[str], dict[str, str]]:
    """The metric inputs that the run provides, and for others the reasons why it does not, with a remedy."""
    offered = {*OF_THE_MASK, "target", "correct", *(source_run.kinds - {MapKind.SAMPLES})}
    if dataset.manifest.pixels:
        offered |= {"image", *(("twin",) if dataset.manifest.twins else ())}
        lacking = any(isinstance(model.classifier, Absent) for model in source_run.models)
        offered |= set() if lacking else MODEL_INPUTS
    if dataset.manifest.attribution and all(is_designed(model.name) for model in source_run.models):
        offered.add("attribution")
    missing: dict[str, str] = {
        need: f"it needs {need.replace('_', ' ')}, and the run kept none; evaluate with this metric and --keep-maps"
        for need in COUNTERPARTS
    }
    missing |= {need: f"it needs the {need}, and there is none" for need in ("attribution", "image", "twin")}
    missing |= dict.fromkeys(sorted(MODEL_INPUTS), "it queries the model, and the run does not hold its weights")
    if not dataset.manifest.pixels:
        without = "it needs images, and the run holds none; give the data set too, as PATH"
        missing |= dict.fromkeys(("attribution", "image", *sorted(MODEL_INPUTS), "twin"), without)
    missing["training"] = "it trains the model again; use 'salgen evaluate' on the data set"
    foreign = [call for call, method in source_run.methods.items() if isinstance(method, ForeignMethod)]
    if foreign:  # a run may be anybody's, and nothing that it names is imported
        missing["method"] = (
            f"it explains images again, and {', '.join(foreign)} would be imported from a place that the run names: "
            "use 'salgen evaluate' on the data set"
        )
    if files := from_files(source_run.methods):
        missing["method"] = f"it explains images again, and the maps of {', '.join(files)} were read from files"
    offered -= {"method"} if foreign or files else set()
    return frozenset(offered), {need: f"cannot be scored from these maps: {why}" for need, why in missing.items()}
