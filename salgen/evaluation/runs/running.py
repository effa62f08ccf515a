"""Evaluation of every method on every sample under every metric, in one pass over the data."""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
import torch
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.attribution.file_maps import Maps
from salgen.evaluation.attribution.reductions import NATIVE
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS, OF_THE_MASK, MapKind
from salgen.evaluation.models.inspection.batch_size import memory_budget
from salgen.evaluation.models.inspection.compiled_network import check_compiler
from salgen.evaluation.reliance.certificate_rule import REDRAWS
from salgen.evaluation.reliance.rerender import Renderer
from salgen.evaluation.runs.conventions import LABEL, Conventions
from salgen.evaluation.runs.evaluated_models import ChosenModels, resolve_models
from salgen.evaluation.runs.given_methods import maps_of_files, resolve_methods
from salgen.evaluation.runs.given_models import check_models_importable, given_model, is_designed
from salgen.evaluation.runs.pipeline import default_run, execute_run, run_folder, run_to_extend, say_what_is_added
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.ray_work import ray_executor
from salgen.evaluation.scoring.metric_selection import Metrics, resolve_metrics, warn_of_left_out
from salgen.evaluation.scoring.own_metrics import check_metrics_importable
from salgen.evaluation.training.training_settings import SEEDS
from salgen.parameters import build

BY_NAME_ONLY = frozenset({"training", "shuffled_maps"})  # needs that take further trainings
MADE_AGAIN = frozenset({"method", "training", *COUNTERPARTS})  # needs that maps in files do not meet
TWINS = frozenset({"twin", "twin_maps", "patched_maps"})
PAIRED_TWINS = frozenset({"paired_twin_maps", "paired_patched_maps"})


def evaluate(
    dataset: str | Path | Dataset,
    *,
    model: str | Path | torch.nn.Module = "lesion-cnn",
    preprocess: Any = None,
    classes: Sequence[int | str] | Mapping[str, Sequence[int]] | None = None,
    paired_model: str | Path | torch.nn.Module | None = None,
    paired_task: str | None = None,
    methods: Sequence[Any] | Mapping[str, Any] | None = None,
    maps: Maps = (),
    metrics: Metrics | None = None,
    out: str | Path | None = None,
    split: str | None = None,
    scale: str = "small",
    settings: Mapping[str, Any] | None = None,
    n_trainings: int | None = None,
    reliance: bool | None = None,
    max_memory: float | None = None,
    source: str | None = None,
    keep_maps: bool = False,
    replace: bool = False,
    executor: str = "local",
    ray_address: str | None = None,
    workers: int | None = None,
    limit: int | None = None,
    target: str = LABEL,
    mask: str | None = None,
    reduce: str = NATIVE,
    score: str = "logit",
    seed: int = 0,
    redraws: int | None = None,
    compile: bool = False,
) -> Path:
    """Train a model unless a trained one is given, explain, score, and write a run folder.

    Parameters
    ----------
    dataset
        The folder or archive of a data set, or a :class:`~salgen.datasets.reading.reader.Dataset` with its split.
    model
        A registered model, which is trained first; or one that is trained already: the folder of a checkpoint; a
        ``torch.nn.Module`` from images to logits, perhaps a Hugging Face image classifier;
        ``"package.module:function"``, which returns one; ``"torchvision:NAME:weights=FILE"`` or
        ``"timm:NAME:weights=FILE"``, a state dict; ``"huggingface:FOLDER"``;
        ``"efficientnet-lite0"`` with its ImageNet weights. It is copied, never changed.
    preprocess
        What turns images in [0, 1] into those that a given network takes: (mean, std), a pipeline such as torchvision's
        ``weights.transforms()``, timm's data config, an image processor, or a module. Resizing and cropping are left
        out: images and masks keep their size. By default what the library states for a network given as text; the
        ``Normalize`` that a ``Sequential`` begins with; else images are given as they are.
    classes
        Where a given network has other outputs than the data set has classes: the names of its outputs in order, or
        for each class of the data set the number of its output, or a mapping from class to numbers, whose largest
        logit counts. Names of published weights, and in Hugging Face's or timm's config, are known. Of one output,
        which counts as two, the name of the class that it speaks for is enough.
    paired_model
        A second trained model, given like `model`, for metrics that contrast two models.
    paired_task
        Another task of the data set, for which a second model is trained here: one for each training seed, plainly,
        otherwise as the first one. Its maps of the same images explain their class of that task.
    methods
        Calls such as ``"lrp-alpha-beta:alpha=1,beta=0"``, or groups: ``"all"`` for all that are defined for the
        model, ``"quick"`` for those but a few that take hundreds of passes an image, or a protocol's name. None takes
        those of the run that `out` holds, else ``"all"``, at scale demo a dozen that stand for their families
        (``DEMO_METHODS`` in :mod:`salgen.evaluation.attribution.method_selection`). The controls are always added.
        Also functions of (network, normalised inputs, targets), classes and objects of
        captum, pytorch-grad-cam and zennit, or ``"package.module:name"`` of one of these; a dict names them. One that
        the model does not allow, or that fails, is left out with a warning, unless no other works. See
        docs/own_methods.md.
    maps
        Maps that another tool made of the split's images, each scored as one more method: method's name to a folder
        with a file for each sample, or to one file, see :mod:`salgen.evaluation.attribution.array_files`; or paths, or
        ``"NAME=PATH"``. They are taken to explain `model`, which must be trained already, for the class that `target`
        states. With them, `methods` None takes the run's in `out`, or none. Samples without a
        ground-truth mask need no map. Metrics that explain again cannot score them.
    metrics
        One or several: calls such as ``"iou:threshold=0.3"``, families, or ``"all"``; a value such as ``0.3|0.5``
        stands for a metric with each. None for those that rank pixels, or those of the run that `out` holds. The first
        one is the headline. Also metrics of your own: an instance of a metric class; a function of map, float (H, W),
        and mask, bool (H, W), that returns a number; or ``"package.module:name"`` of either. Higher is better unless
        the function has an attribute ``higher_is_better = False``; `bounds`, (low, high), are infinite by default. A
        dict gives names. See docs/extending.md.
    out
        The run folder; by default ``runs/<data set>-<model>`` and the options that are not the defaults. If it holds
        a finished run of the same data, models and options, methods and metrics are added to that.
    split
        That of a `Dataset`, else ``"test"`` by default.
    scale
        ``"demo"``, ``"small"`` or ``"full"``: defaults of training, and the number of samples that expensive methods
        draw.
    settings
        Training settings and parameters of the model, see
        :func:`~salgen.evaluation.training.training_settings.choose_settings`.
    n_trainings
        Number of models to train, with the training seeds 0 to `n_trainings` - 1. By default 1 at scale demo, 3 at
        small and 5 at full.
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
        see `dataset`, `out` and models under the same path, and have the same salgen.
    workers
        Processes of a Ray that is started here; as many as there are processors if None.
    limit
        Only the first `limit` samples of the split.
    target
        Explain the true class (``"label"``), the predicted one (``"pred"``), or a class by its name.
    mask
        The region that is the ground truth; by default that of the data set's task.
    reduce
        How channels become one: ``"native"`` as each method defines it, or one of
        :data:`~salgen.evaluation.attribution.reductions.REDUCTIONS` for all methods.
    score
        Explain the target's logit (``"logit"``), or its margin over the best other one (``"margin"``).
    seed
        Seed of the methods' own randomness, at least 0.
    redraws
        Redraws of a sample for its certificate; by default 8, at scale full 59.
    compile
        Let ``torch.compile`` speed up passes without gradient; scores move by 1e-5 at most.

    Returns
    -------
    The run (from ``salgen.evaluate`` a :class:`~salgen.Run`), a folder with ``scores.parquet``, ``summary.csv``,
    ``comparisons.csv``, ``predictions.parquet``, ``certificates.parquet`` where samples can be
    rendered again, ``run.json`` and ``gallery.npz``.

    Raises
    ------
    SalgenError
        If a name, a number, the data set or the checkpoint is not valid, or `out` holds another experiment.
    """
    started, arguments = time.monotonic(), locals()
    if scale not in SEEDS:
        raise unknown_name("scale", scale, SEEDS)
    first = given_model(model, preprocess, classes)
    second = None if paired_model is None else given_model(paired_model)
    workers_of_ray = ray_executor(executor, workers, ray_address)
    if workers_of_ray is not None:
        check_models_importable(first, second)
    memory_budget(torch.device("cpu"), max_memory)  # raises for a wrong value before any work
    conventions = {field.name: arguments[field.name] for field in dataclasses.fields(Conventions)}
    agreed = build(Conventions, conventions)
    agreed = dataclasses.replace(agreed, redraws=agreed.redraws or REDRAWS[scale])
    data = open_dataset(dataset, split, source)
    source = data.source

    training: dict[str, Any] = {"scale": scale, "n_trainings": n_trainings, "reliance": reliance}
    options = {"split": data.split, **training, **(settings or {}), **conventions, "paired": second or paired_task}
    run = Path(out) if out is not None else default_run(dataset, first, options)
    models = resolve_models(data, first, second, paired_task, run, settings=settings, **training)
    if replace:
        models.check_kept(run)
    if agreed.compile:
        check_compiler(models.network)
    held = run_to_extend(run, data, agreed, models.identities, second_model=models.second_label, replace=replace)
    outside = maps_of_files(maps, held, models)
    chosen = _resolve_metrics(metrics, held.metrics if held else [], scale, models, list(outside))
    if workers_of_ray is not None:
        check_metrics_importable(chosen)
    defined, left_out = resolve_methods(methods, scale, held, outside, models, run, for_workers=bool(workers_of_ray))

    if held is not None:
        say_what_is_added(run, held, defined, chosen)
        keep_maps = keep_maps or bool(held.maps)
    plan = Plan.of(
        data, agreed, models.loaded, defined, chosen, left_out=left_out, max_memory=max_memory, keep_maps=keep_maps
    )
    for method in outside.values():
        needed = [data.ids[index] for index in plan.scored]
        method.files.check_samples(needed, data.ids, f"split {data.split} with a mask")
    if source is not None and not data.manifest.recipes_only:  # recipes were already rendered from it
        Renderer.of(data, source, plan.scored[0])  # raises for a wrong source before any work
    with run_folder(run, replace=replace):
        trained = models.trained(run, shuffled=MapKind.SHUFFLED in plan.needs, compile=agreed.compile)
        plan = dataclasses.replace(plan, **trained)
        return execute_run(plan, run, started, source=source, executor=workers_of_ray)


def _resolve_metrics(
    metrics: Metrics | None, earlier: Sequence[str], scale: str, models: ChosenModels, outside: Sequence[str]
) -> dict[str, Metric]:
    """A run's metrics by name, where methods `outside` have maps in files; warns of those that a group leaves out."""
    data, paired = models.dataset, models.second_label is not None
    offered = {*OF_THE_MASK, "image", "target", "correct", "model", "method"}
    offered |= TWINS if data.manifest.twins else set()
    offered |= {"paired_maps", *(PAIRED_TWINS if data.manifest.twins else ())} if paired else set()
    is_known = all(model.origin["trained_on"] is not None for model in models.loaded)  # how it was trained
    offered |= BY_NAME_ONLY if is_known else set()
    offered |= {"attribution"} if is_designed(models.name) and data.manifest.attribution else set()
    why_missing = {
        **dict.fromkeys(
            BY_NAME_ONLY, f"trains the model again: give a registered model or a checkpoint, not {models.name}"
        ),
        "paired_maps": "contrasts two models: give the second one (paired_model, --paired-model), or the task that it "
        "is to learn (paired_task, --paired-task)",
        **dict.fromkeys(TWINS | PAIRED_TWINS, f"compares images with their twins: {data.path} holds none"),
    }
    lacking = {
        "which train models and must be named": BY_NAME_ONLY,
        "which take a second model (paired_model, paired_task)": frozenset({"paired_maps"}),
        "which compare images with twins, and there are none": TWINS,
    }
    if outside:
        offered -= MADE_AGAIN
        files_alone = dict.fromkeys(
            MADE_AGAIN,
            f"takes maps of other images or models, and those of {', '.join(outside)} are in files: leave it out, or "
            "score them in a run of their own (out=, --out)",
        )
        why_missing = files_alone | {need: why for need, why in why_missing.items() if need not in files_alone}
        lacking = {"which take maps of other images or models, and maps in files are of these alone": MADE_AGAIN}
    chosen = resolve_metrics(metrics, earlier, scale, frozenset(offered), why_missing, BY_NAME_ONLY)
    if paired and not any("paired_maps" in metric.needs for metric in chosen.values()):
        raise SalgenError("no metric contrasts the paired model or task: name mcs, mcr or idr:of=paired")
    warn_of_left_out(metrics or (), chosen, frozenset(offered - BY_NAME_ONLY), lacking)
    return chosen
