"""Evaluation of every method on every sample under every metric, in one pass over the data."""

import dataclasses
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError, unknown_name, warn
from salgen.evaluation.attribution.arguments import at_least
from salgen.evaluation.attribution.file_maps import Maps, paths_by_name
from salgen.evaluation.attribution.foreign_methods import ForeignMethod
from salgen.evaluation.attribution.method_selection import DEMO, check_methods_given, select_methods
from salgen.evaluation.metrics.inputs.metric import FAMILIES, Metric
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS, OF_THE_MASK, MapKind
from salgen.evaluation.models.inspection.batch_size import memory_budget
from salgen.evaluation.models.inspection.compiled_network import check_compiler
from salgen.evaluation.reliance.certificate_rule import REDRAWS
from salgen.evaluation.reliance.rerender import Renderer
from salgen.evaluation.runs.artifacts.conventions import Conventions
from salgen.evaluation.runs.artifacts.run_record import in_groups
from salgen.evaluation.runs.evaluated_models import Pairing, load_model, train_again, train_models
from salgen.evaluation.runs.given_maps import check_one_trained_model, maps_of_files
from salgen.evaluation.runs.given_methods import check_importable, earlier_methods
from salgen.evaluation.runs.given_models import GivenModel, check_models_importable, given_model
from salgen.evaluation.runs.pipeline import (
    default_run,
    execute_run,
    ray_executor,
    run_folder,
    run_to_extend,
    say_what_is_added,
)
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.scoring.metric_selection import (
    ALL,
    DEFAULT,
    HOW_TO_GIVE,
    check_needs,
    choose_metrics,
    create_metric,
    swept,
)
from salgen.evaluation.training import training_settings
from salgen.evaluation.training.reliance_penalty import check_redrawable
from salgen.evaluation.training.training_config import initial_classifier
from salgen.evaluation.training.training_settings import SEEDS, choose_settings
from salgen.parameters import build
from salgen.registry import METHODS, MODELS

PERMUTED = "permuted-labels"  # folder of the models for label randomisation
BY_NAME_ONLY = frozenset({"training", "shuffled_maps"})  # needs that take further trainings
MADE_AGAIN = frozenset({"method", "training", *COUNTERPARTS})  # needs that maps in files do not meet
TWINS = frozenset({"twin", "twin_maps", "patched_maps"})
PAIRED_TWINS = frozenset({"paired_twin_maps", "paired_patched_maps"})


def evaluate(
    path: str | Path,
    *,
    model: str | Path | torch.nn.Module = "lesion-cnn",
    preprocess: Any = None,
    classes: Sequence[int | str] | None = None,
    paired_model: str | Path | torch.nn.Module | None = None,
    paired_task: str | None = None,
    methods: Sequence[Any] | Mapping[str, Any] | None = None,
    maps: Maps = (),
    metrics: Sequence[str] | None = None,
    out: str | Path | None = None,
    split: str | None = None,
    scale: str = "small",
    settings: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    reliance: bool | None = None,
    max_memory: float | None = None,
    source: str | None = None,
    keep_maps: bool = False,
    replace: bool = False,
    executor: str = "local",
    ray_address: str | None = None,
    workers: int | None = None,
    command: Sequence[str] | None = None,
    **conventions: Any,
) -> Path:
    """Train a model unless a trained one is given, explain, score, and write a run folder.

    Parameters
    ----------
    path
        A data set folder.
    model
        A registered model, which is trained first; or one that is trained already: the folder of a checkpoint; a
        ``torch.nn.Module`` from images to logits, perhaps a Hugging Face image classifier;
        ``"package.module:function"``, which returns one; ``"torchvision:NAME:weights=FILE"`` or
        ``"timm:NAME:weights=FILE"``, a state dict; ``"huggingface:FOLDER"``. It is copied, never changed.
    preprocess
        What turns images in [0, 1] into those that a given network takes: (mean, std), a pipeline such as torchvision's
        ``weights.transforms()``, timm's data config, an image processor, or a module. Resizing and cropping are left
        out: images and masks keep their size. By default what the library states for a network given as text; the
        ``Normalize`` that a ``Sequential`` begins with; else images are given as they are.
    classes
        Where a given network has other outputs than the data set has classes: the names of its outputs in order, or
        for each class of the data set the number of its output. Names in Hugging Face's or timm's config are known. Of
        one output, which counts as two, the name of the class that it speaks for is enough.
    paired_model
        A second trained model, given like `model`, for metrics that contrast two models.
    paired_task
        Another task of the data set, for which a second model is trained here: one for each training seed, plainly,
        otherwise as the first one. Its maps of the same images explain their class of that task.
    methods
        Calls such as ``"lrp-alpha-beta:alpha=1,beta=0"``, or groups: ``"all"`` for all that are defined for the
        model, or a protocol's name. None takes those of the run that `out` holds, else ``"all"``, at scale demo a dozen
        that stand for their families (``DEMO_METHODS`` in :mod:`salgen.evaluation.attribution.method_selection`). The
        controls are always added. Also functions of (network, normalised inputs, targets), classes and objects of
        captum, pytorch-grad-cam and zennit, or ``"package.module:name"`` of one of these; a dict names them. One that
        the model does not allow, or that fails, is left out with a warning, unless no other works. See
        docs/own_methods.md.
    maps
        Maps that another tool made of the split's images, each scored as one more method: method's name to a folder
        with a file for each sample, or to one file, see :mod:`salgen.evaluation.attribution.array_files`; or paths, or
        ``"NAME=PATH"``. They are taken to explain `model`, which must be trained already, for the class that the
        convention `target` states. With them, `methods` None takes the run's in `out`, or none. Samples without a
        ground-truth mask need no map. Metrics that explain again cannot score them.
    metrics
        Calls such as ``"iou:threshold=0.3"``, families, or ``"all"``; a value such as ``0.3|0.5`` stands
        for a metric with each. None for those that rank pixels, or those of the run that `out` holds. The first one
        is the headline.
    out
        The run folder; by default ``runs/<data set>-<model>`` and the options that are not the defaults. If it holds
        a finished run of the same data, models and conventions, methods and metrics are added to that.
    split
        ``"test"`` by default.
    scale, settings, seeds
        Of training, see :func:`salgen.evaluation.training.training.train_seeds`, with the number of trainings that
        belongs to the scale by default. The scale also sets the number of samples that expensive methods draw.
    reliance
        Whether the model is trained for reliance on the feature, by default where the data set's backgrounds can be
        drawn again: see :mod:`salgen.evaluation.training.reliance_penalty`. A weight among the `settings` comes first.
    max_memory
        Memory in GB that explaining may use on the model's device; half of what is free by default.
    source
        The source data that the data set was made from, where that is not the generator's default: samples
        are rendered again for the reliance certificate, and always where the data set holds recipes only.
    keep_maps
        Keep the maps, the split's data and the models in the run folder, so that others can score the maps: see
        :func:`salgen.evaluation.runs.rescoring.rescore`.
    replace
        Remove a finished run in `out` first, with its models, whatever its experiment was.
    executor
        ``local``, to explain and score in this process, or ``ray``, for workers with a GPU each, or with a
        processor each where there is none. The scores are the same on the same kind of machine.
    ray_address
        ``HOST:PORT`` of a running Ray, or ``auto``; None starts one on this machine. All machines of a cluster must
        see `path`, `out` and models under the same path, and have the same salgen.
    workers
        Processes of a Ray that is started here; as many as there are processors if None.
    command
        The command line to record.
    conventions
        `limit`, `target`, `mask`, `reduce`, `score`, `seed`, `redraws` and `compile`, see
        :class:`~salgen.evaluation.runs.artifacts.conventions.Conventions`.

    Returns
    -------
    The run folder, with ``scores.parquet``, ``summary.csv``, ``comparisons.csv``, ``predictions.parquet``,
    ``certificates.parquet`` where samples can be rendered again, ``run.json`` and ``gallery.npz``.

    Raises
    ------
    SalgenError
        If a name, a number, the data set or the checkpoint is not valid, or `out` holds another experiment.
    """
    started = time.monotonic()
    if scale not in SEEDS:
        raise unknown_name("scale", scale, SEEDS)
    chosen_model = given_model(model, preprocess, classes)
    second_model = None if paired_model is None else given_model(paired_model)
    if out is not None and not isinstance(out, (str, os.PathLike)):
        raise SalgenError(f"out = {out!r}: must be text or a path")
    files = paths_by_name(maps) if maps else {}
    ray = ray_executor(executor, workers, ray_address)
    dataset = open_dataset(path, split, source)
    options = {"split": split, "scale": scale, "seeds": seeds, "reliance": reliance, **(settings or {}), **conventions}
    options["paired"] = second_model or paired_task
    run = Path(out) if out is not None else default_run(path, chosen_model, options)
    pairing = Pairing(second_model, paired_task)
    pairing.check(dataset, chosen_model)
    agreed = build(Conventions, conventions)
    agreed = dataclasses.replace(agreed, redraws=agreed.redraws or REDRAWS.get(scale))
    registered = isinstance(chosen_model, str) and chosen_model in MODELS.entries
    loaded = [] if registered else [load_model(dataset, chosen_model, run)]
    if loaded and (settings or reliance is not None or seeds not in (None, 1)):
        raise SalgenError(
            f"{chosen_model} is trained already: training settings, reliance and more than one seed take a model to "
            "train"
        )
    kept = [*(trained.folder for trained in loaded), *([] if second_model is None else [Path(str(second_model))])]
    if replace and any(run.resolve() in folder.resolve().parents for folder in kept):
        raise SalgenError(f"{run} holds the model, and would be removed (replace): choose another folder")
    if loaded:
        network = loaded[0].classifier
    else:
        network = initial_classifier(
            dataset.path, model=str(chosen_model), scale=scale, settings=settings, source=dataset.source
        )
        settings = _with_reliance(settings, reliance, dataset, str(chosen_model), scale)
    identities: list[tuple[str, int, str | None]] = [(m.name, m.seed, m.digest) for m in loaded]
    count = SEEDS[scale] if seeds is None else at_least(1, seeds, "seeds")
    identities = identities or [(str(chosen_model), seed, None) for seed in range(count)]
    held = run_to_extend(run, dataset, agreed, identities, second_model=pairing.label, replace=replace)
    requested = None if methods is None else check_methods_given(methods)
    given = [method.call for method in requested or () if isinstance(method, ForeignMethod)]
    earlier = earlier_methods(held, given, run) if held else []
    earlier_metrics = held.metrics if held else []
    if files:
        check_one_trained_model(len(identities), str(chosen_model), trained=bool(loaded or held))
    outside = maps_of_files(files, held, dataset) if files or held else {}
    selection = select_methods(requested, scale, earlier, outside)
    if ray is not None:
        check_models_importable(chosen_model, second_model)
        check_importable(selection.named.values())
    chosen = _run_metrics(metrics, earlier_metrics, scale, dataset, chosen_model, pairing.requested, list(outside))
    memory_budget(torch.device("cpu"), max_memory)  # raises for a wrong value before any work
    if agreed.compile:
        check_compiler(network)
    image = torch.from_numpy(dataset[0]["image"][None])
    defined, left_out = selection.defined_for(network, image, _unmet_needs(dataset))
    if lost := [m.call for m in held.methods if m.call in left_out] if held is not None else []:
        raise SalgenError(f"{run} holds scores of {lost[0]}, which cannot be made again: {left_out[lost[0]]}")
    for call in selection.named.keys() & left_out.keys():
        warn(f"{call} is left out of {run}: {left_out[call].removeprefix(f'{call}: ')}")
    if methods is None and held is None and not outside and scale == DEMO:
        print(
            f"scale demo takes {len(defined)} of {len(METHODS.names())} methods by default, controls among them; "
            "-m all (from Python methods=['all']) takes all",
            file=sys.stderr,
        )
    if others := {call: why for call, why in left_out.items() if call not in selection.named}:
        print(f"{len(others)} of {len(selection.methods)} methods left out: {in_groups(others)}", file=sys.stderr)
    if held is not None:
        say_what_is_added(run, held, defined, chosen)
        left_out = {call: why for call, why in {**held.left_out, **left_out}.items() if call not in defined}
        keep_maps = keep_maps or bool(held.maps)
    plan = Plan.of(
        dataset, agreed, loaded, defined, chosen, left_out=left_out, max_memory=max_memory, keep_maps=keep_maps
    )
    for method in outside.values():
        ids = dataset.ids
        method.files.check_samples([ids[index] for index in plan.scored], ids, f"split {dataset.split} with a mask")
    if source is not None and not dataset.manifest.recipes_only:  # recipes were already rendered from it
        Renderer.of(dataset, source, plan.scored[0])  # raises for a wrong source before any work
    with run_folder(run, replace=replace):
        training: dict[str, Any] = {"scale": scale, "settings": settings, "seeds": seeds}
        models = loaded or train_models(dataset, str(chosen_model), run, **training)
        if agreed.compile:
            models = [dataclasses.replace(model, compile=True) for model in models]
        shuffled = {
            trained.seed: train_again(
                trained, dataset, run / PERMUTED / f"{trained.name}-seed{trained.seed}", labels="permuted"
            )
            for trained in (models if MapKind.SHUFFLED in plan.needs else ())
        }
        plan = dataclasses.replace(plan, models=models, paired=pairing.models(models, dataset, run), shuffled=shuffled)
        return execute_run(plan, run, started, source=source, executor=ray, command=command)


def _with_reliance(
    settings: Mapping[str, Any] | None, reliance: bool | None, dataset: Dataset, model: str, scale: str
) -> Mapping[str, Any]:
    """The settings of a training for reliance, unless it is turned off; a warning says why where it cannot be."""
    settings = settings or {}
    if reliance is False or "reliance" in settings:
        return settings
    chosen = {**settings, "reliance": training_settings.RELIANCE}
    try:
        choose_settings(model, scale, chosen)
        check_redrawable(dataset.path, dataset.source)
    except SalgenError as error:
        if reliance:
            raise
        warn(f"{model} is trained plainly, not for reliance: {error}")
        return settings
    return chosen


def _unmet_needs(dataset: Dataset) -> dict[str, str]:
    """Needs of methods that this data set cannot meet, with the reasons."""
    if dataset.spec.splits.get("train"):
        return {}
    return {"patterns": f"fits patterns to the split 'train', which {dataset.name} does not have"}


def _run_metrics(
    calls: Sequence[str] | None,
    earlier: Sequence[str],
    scale: str,
    dataset: Dataset,
    model: str | Path | GivenModel,
    paired: bool,
    outside: Sequence[str],
) -> dict[str, Metric]:
    """The metrics by their calls after those of an `earlier` run; groups stand for those that take no further training.

    A warning names the metrics that a group leaves out.
    """
    offered = _offered(dataset, model, paired) - (MADE_AGAIN if outside else frozenset())
    chosen = {call: create_metric(call) for call in earlier}
    chosen |= swept(calls or (() if earlier else DEFAULT), offered - BY_NAME_ONLY, scale)
    for call, metric in chosen.items():
        if outside and metric.needs & MADE_AGAIN:
            raise SalgenError(
                f"metric {call!r} takes maps of other images or models, and those of {', '.join(outside)} are in "
                "files: leave it out, or score them in a run of their own (out=, --out)"
            )
        _check_metric(call, metric, offered, dataset, model)
    check_needs(chosen, offered)
    if paired and not any("paired_maps" in metric.needs for metric in chosen.values()):
        raise SalgenError(
            "a paired model or task is given, but no metric contrasts two models: name mcs, mcr or idr:of=paired, or "
            "leave it out"
        )
    groups = [call for call in calls or () if call == ALL or call in FAMILIES]
    if left_out := "; ".join(_left_out_metrics(groups, chosen, offered)):
        warn(f"metrics left out of {', '.join(groups)}: {left_out}")
    return chosen


def _offered(dataset: Dataset, model: str | Path | GivenModel, paired: bool) -> frozenset[str]:
    """The metric inputs that this run can provide."""
    offered = {*OF_THE_MASK, "image", "target", "correct", "model", "method"}
    if dataset.manifest.twins:
        offered |= TWINS
    if paired:
        offered |= {"paired_maps", *(PAIRED_TWINS if dataset.manifest.twins else ())}
    if isinstance(model, (str, Path)):
        offered |= BY_NAME_ONLY
    elif model.designed and dataset.manifest.attribution:
        offered.add("attribution")
    return frozenset(offered)


def _check_metric(
    call: str, metric: Metric, offered: frozenset[str], dataset: Dataset, model: str | Path | GivenModel
) -> None:
    missing = metric.needs - offered
    if missing & BY_NAME_ONLY:
        raise SalgenError(
            f"metric {call!r} trains the model again: give a registered model or a checkpoint, not {model}"
        )
    if "paired_maps" in missing:
        raise SalgenError(
            f"metric {call!r} contrasts two models: give the second one (paired_model, --paired-model), or the "
            "task that it is to learn (paired_task, --paired-task)"
        )
    if missing & (TWINS | PAIRED_TWINS):
        raise SalgenError(f"metric {call!r} compares images with their twins: {dataset.path} holds none")


def _left_out_metrics(groups: Sequence[str], chosen: dict[str, Metric], offered: frozenset[str]) -> Iterator[str]:
    """Descriptions of the metrics that the groups among the calls leave out."""
    names = {metric.name for metric in chosen.values()}
    missing = {
        name: metric
        for group in groups
        for name, metric in choose_metrics(group, {*HOW_TO_GIVE, "training"}).items()
        if name not in names
    }
    reasons = {
        "which train models and must be named": BY_NAME_ONLY,
        "which take a second model (paired_model, paired_task)": {"paired_maps"} - offered,
        "which compare images with twins, and there are none": TWINS - offered,
    }
    if "method" not in offered:
        reasons = {"which take maps of other images or models, and maps in files are of these alone": MADE_AGAIN}
    for reason, needs in reasons.items():
        lacking = [name for name, metric in missing.items() if metric.needs & needs]
        if lacking:
            yield f"{', '.join(lacking)}, {reason}"
