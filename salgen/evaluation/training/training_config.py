"""The configuration of a training: data set, model, task, seed and settings."""

from collections.abc import Mapping
from typing import Any
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.training.checkpoints import TrainingConfig, build_classifier
from salgen.evaluation.training.training_settings import choose_settings
from salgen.parameters import to_json

SPLITS = ("train", "val", "test")


def initial_classifier(
    dataset: Dataset, *, model: str, scale: str = "small", settings: Mapping[str, Any] | None = None
) -> Classifier:
    """The classifier that such a training begins with, freshly initialised, to inspect before any work."""
    plugin, chosen = choose_settings(model, scale, settings)
    return build_classifier(setup_of(dataset, None, model, to_json(plugin), 0, to_json(chosen)))


def setup_of(
    dataset: Dataset, task: str | None, model: str, parameters: dict[str, Any], seed: int, settings: dict[str, Any]
) -> TrainingConfig:
    """The configuration of a training on a data set."""
    if not 0 <= seed < 2**63:
        raise SalgenError(f"seed = {seed}: must be 0 or more, in 64 bits")
    path = dataset.path
    missing = [split for split in SPLITS if split not in dataset.spec.splits]
    if missing:
        raise SalgenError(f"{path} has no split {missing[0]!r}: it takes {', '.join(SPLITS)}; or give a trained model")
    dataset = dataset.of_split("train")
    task = next(iter(dataset.tasks)) if task is None else task
    if task not in dataset.tasks:
        raise unknown_name("task", task, dataset.tasks)
    multi_label = task in dataset.manifest.multi_label
    if len(dataset.tasks[task]) < 2 or (not multi_label and len(set(map(int, dataset.column(task)))) < 2):
        raise SalgenError(f"{path}: all training images have the same class: add another, or give a trained model")
    return TrainingConfig(
        model=model,
        parameters=parameters,
        channels=dataset[0]["image"].shape[0],
        image_size=list(dataset.spec.image_size),
        task=task,
        class_names=list(dataset.tasks[task]),
        dataset=dataset.name,
        dataset_fingerprint=dataset.fingerprint,
        seed=seed,
        settings=settings,
        multi_label=multi_label,
    )
