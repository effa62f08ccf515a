"""Running salgen-bench: data, trainings, frozen checkpoints, and the scores of all methods on them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
import safetensors.torch
import torch
from torch import Tensor
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.bench.published import keep_results
from salgen.evaluation.bench.rankings import main_entries
from salgen.evaluation.bench.versions import BenchData, BenchEntry, BenchSpec
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.runs.source_run import copy_checkpoint
from salgen.evaluation.training.checkpoints import WEIGHTS, load_checkpoint, read_card, save_checkpoint
from salgen.evaluation.training.training import train_seeds
from salgen.evaluation.training.training_settings import RELIANCE
from salgen.generators.factory import plugin_class
from salgen.parameters import parse_call

DATA, CHECKPOINTS, RUNS, RESULTS = "data", "checkpoints", "runs", "results"
BATCH = 64


def run_entry(
    spec: BenchSpec,
    entry: BenchEntry,
    out: Path,
    *,
    methods: Sequence[str] = ("all",),
    recipes_only: bool = False,
    checkpoints: Path | None = None,
    **options: Any,
) -> list[Path]:
    """Compute one entry of the benchmark, or go on where it was stopped, and return its results of each split.

    The folder's ``data`` holds data sets, ``checkpoints`` frozen weights, ``runs`` run folders, and ``results`` what is
    published of these. The frozen `checkpoints` are scored as they are; without them those of `out`, trained if need
    be. `options` are further ones of :func:`~salgen.evaluation.runs.running.evaluate`.
    """
    data, (model, parameters) = entry.data, parse_call(entry.network)
    settings = {**parameters, "reliance": RELIANCE if entry.reliance else 0.0}
    dataset = make_data(spec, data, out / DATA / data.name, recipes_only=recipes_only)
    if data.designed:
        trainings = []
    elif checkpoints is None:
        folder = out / CHECKPOINTS / entry.name
        trained = train_seeds(
            dataset, folder, model=model, scale=spec.scale, settings=settings, n_trainings=spec.trainings
        )
        trainings = [one.path for one in trained]
        for checkpoint in trainings:
            freeze(checkpoint, dataset)
    else:
        trainings = [checkpoints / f"{model}-seed{seed}" for seed in range(spec.trainings)]
    results = []
    for split in data.tests:
        name = run_name(entry, split)
        run = out / RUNS / name
        for checkpoint in trainings:
            copy_checkpoint(checkpoint, run / checkpoint.name)
        evaluate(
            dataset,
            model=model,
            settings=None if data.designed else settings,
            n_trainings=None if data.designed else spec.trainings,
            methods=list(methods),
            metrics=spec.metrics_on(data),
            scale=spec.scale,
            split=split,
            limit=spec.images,
            seed=spec.seed,
            out=run,
            **options,
        )
        keep_results(spec, run, out / RESULTS / name, gallery=entry in main_entries(spec) and name == entry.name)
        results.append(out / RESULTS / name)
    for checkpoint in trainings:
        copy_checkpoint(checkpoint, out / RESULTS / entry.name / checkpoint.name)
    return results


def make_data(spec: BenchSpec, data: BenchData, folder: Path, **options: Any) -> Path:
    """Make a data set of the benchmark; `options` are further ones of :func:`~salgen.datasets.making.make`."""
    variants = dict.fromkeys(plugin_class(data.name).scales[spec.scale].splits)  # as many as the scale has
    splits = {**variants, **data.splits}
    how: dict[str, Any] = {"splits": splits, "parameters": data.parameters, "scale": spec.scale, "seed": spec.seed}
    made = make(data.name, folder, **how, **options)
    fingerprint = open_dataset(made).fingerprint
    if fingerprint != data.fingerprint:
        raise SalgenError(f"{made} is not the data of salgen-bench {spec.version}: install the salgen that makes it")
    return made


def run_name(entry: BenchEntry, split: str) -> str:
    """The name of the folders of an entry's results on one split: ``drawn-signs-scnn-plain-noisy-square``."""
    return "-".join([entry.name, *split.split("_")[1:]])


def freeze(checkpoint: Path, dataset: Path) -> bool:
    """Store weights in half precision if no prediction of a test image changes; returns whether they are stored so."""
    weights = safetensors.torch.load_file(checkpoint / WEIGHTS)
    if not any(tensor.dtype == torch.float32 for tensor in weights.values()):
        return True
    halves = {name: tensor.half() if tensor.dtype == torch.float32 else tensor for name, tensor in weights.items()}
    if not torch.equal(*(_predicted(checkpoint, dataset, stored) for stored in (weights, halves))):
        return False
    save_checkpoint(checkpoint, halves, read_card(checkpoint))
    return True


def _predicted(checkpoint: Path, dataset: Path, weights: Mapping[str, Tensor]) -> Tensor:
    """The class that a network with some weights predicts for each test image, (N,); of several labels bool (N, K)."""
    trained = load_checkpoint(checkpoint, "cpu")
    trained.classifier.load_state_dict(weights)
    logits = []
    with torch.inference_mode():
        for batch in open_dataset(dataset, "test").batches(BATCH):
            logits.append(trained.classifier(torch.from_numpy(batch.images)))
    together = torch.cat(logits)
    return together > 0 if trained.card.multi_label else together.argmax(dim=1)
