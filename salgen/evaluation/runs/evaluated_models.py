"""The models that a run explains: trained here, read from a checkpoint, or made by the user's own function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
import numpy as np
import torch
from torch import nn
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, unknown_name, warn
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.artifacts.predictions import Classes, predicted_classes
from salgen.evaluation.runs.given_models import FORMS, GivenModel
from salgen.evaluation.training import training_settings
from salgen.evaluation.training.checkpoints import WEIGHTS, LoadedCheckpoint, check_fits, load_checkpoint, read_card
from salgen.evaluation.training.reliance_penalty import check_redrawable
from salgen.evaluation.training.training import train, train_seeds
from salgen.evaluation.training.training_config import initial_classifier
from salgen.evaluation.training.training_settings import SEEDS
from salgen.files import sha256_of
from salgen.parameters import at_least
from salgen.registry import MODELS
from salgen.types import Float32

Identity = tuple[str, int, str | None, Mapping[str, Any]]
PERMUTED = "permuted-labels"  # folder of the models for label randomisation


@dataclass(frozen=True)
class EvaluatedModel:
    """A model under evaluation."""

    # its name in the tables, and its training seed
    name: str
    seed: int
    classifier: nn.Module  # images (N, C, H, W) in [0, 1] to logits (N, K), in evaluation mode
    digest: str  # SHA-256 of its weights
    folder: Path  # folder of whatever is fitted to it, such as patterns
    origin: Mapping[str, Any]  # the entries of ``run.json`` about its training
    task: str | None = None  # the task that it was trained for, or None if that is not known
    compile: bool = False  # whether passes without gradient are compiled

    @property
    def stated(self) -> Mapping[str, Any]:
        """What was stated with a given network or found beside it: `classes`, and how images are preprocessed."""
        return self.origin["settings"] or {} if self.origin["trained_on"] is None else {}

    @property
    def device(self) -> torch.device:
        """The device of its weights."""
        return next((p.device for p in self.classifier.parameters()), torch.device("cpu"))

    @cached_property
    def view(self) -> ModelView:
        """The model as methods see it: a private copy that shares its weights."""
        return ModelView.of(self.classifier, compile=self.compile)

    def logits(self, images: Float32) -> torch.Tensor:
        """Logits (n, K) of images (n, C, H, W)."""
        with torch.inference_mode():
            return self.view.logits(self.view.normalise(self.view.like(torch.from_numpy(images))))

    def probabilities(self, images: Float32) -> Float32:
        """Probabilities (n, K) of images (n, C, H, W)."""
        return np.asarray(self.view.probabilities(self.logits(images)).cpu().numpy(), dtype=np.float32)

    def predict(self, images: Float32, labels: Classes) -> Classes:
        """The predicted class of each image (n, C, H, W), int64 (n,); see :func:`predicted_classes` for `labels`."""
        return predicted_classes(self.probabilities(images), labels, self.view.multi_label)

    @classmethod
    def of(cls, trained: LoadedCheckpoint) -> EvaluatedModel:
        """A checkpoint's model."""
        card = trained.card
        origin = {
            "checkpoint": trained.path.name,
            "trained_on": {"name": card.dataset, "fingerprint": card.dataset_fingerprint},
            "settings": card.settings,
            "training_seconds": card.seconds,
        }
        digest = sha256_of(trained.path / WEIGHTS)
        return cls(card.model, card.seed, trained.classifier, digest, trained.path, origin, card.task)


def train_again(
    model: EvaluatedModel,
    dataset: Dataset,
    out: Path,
    *,
    task: str | None = None,
    images: Path | None = None,
    **changes: Any,
) -> EvaluatedModel:
    """A fresh model trained as a checkpoint's was, with the same seed, except for the task, the images or settings."""
    card = read_card(model.folder)
    settings = {**card.parameters, **card.settings, **changes}
    if task or changes:
        settings.pop("reliance", None)  # redraws show the cause of the data set's first task
    return EvaluatedModel.of(
        train(dataset, out, model=card.model, seed=card.seed, task=task or card.task, settings=settings, images=images)
    )


def load_model(dataset: Dataset, model: str | Path | GivenModel, run: Path, any_task: bool = False) -> EvaluatedModel:
    """A model that is trained already: from a checkpoint, or given."""
    if isinstance(model, GivenModel):
        classifier = model.load(dataset)
        origin: dict[str, Any] = {"checkpoint": str(model), "settings": model.settings(classifier)}
        origin |= dict.fromkeys(("trained_on", "training_seconds"))
        return EvaluatedModel(model.name, 0, classifier, model.digest(classifier, dataset), run, origin)
    if not Path(model).exists():
        MODELS.load(str(model))  # raises with the nearest registered name
    checkpoint = load_checkpoint(Path(model))
    check_fits(checkpoint, dataset, any_task)
    return EvaluatedModel.of(checkpoint)


@dataclass(frozen=True)
class ChosenModels:
    """The models of a run: the first, which is trained already or with each seed, and perhaps a second one."""

    dataset: Dataset
    name: str  # the first model's: a registered one, or as it was given
    loaded: list[EvaluatedModel]  # the first model if it is trained already
    network: nn.Module  # the first model, or one with its architecture before training
    training: Mapping[str, Any]  # scale, settings and number of models that are trained here
    # the second model: a checkpoint's folder or a given network, which may have learnt any task of the data set; or the
    # task for which one is trained, otherwise as the first one was
    second: str | Path | GivenModel | None
    second_task: str | None

    @property
    def identities(self) -> list[Identity]:
        """Each first model's name, seed, SHA-256 of the weights (None before training), and what was stated with it."""
        loaded: list[Identity] = [(model.name, model.seed, model.digest, model.stated) for model in self.loaded]
        return loaded or [(self.name, seed, None, {}) for seed in range(self.training["n_trainings"])]

    @property
    def second_label(self) -> str | None:
        """The second model's task, or its checkpoint as ``run.json`` names it; None if there is none."""
        if self.second is None or isinstance(self.second, GivenModel):
            return self.second_task if self.second is None else str(self.second)
        return Path(self.second).name

    def check_kept(self, run: Path) -> None:
        """Raise a SalgenError if a folder that is to be replaced holds one of the models."""
        folders = [*(model.folder for model in self.loaded), *([] if self.second is None else [Path(str(self.second))])]
        if any(run.resolve() in folder.resolve().parents for folder in folders):
            raise SalgenError(f"{run} holds the model, and would be removed (replace): choose another folder")

    def trained(self, run: Path, *, shuffled: bool, compile: bool) -> dict[str, Any]:
        """A plan's models, trained where they are not yet; with `shuffled` also others, on permuted labels."""
        dataset, models, task = self.dataset, self.loaded, self.second_task
        if not models:
            checkpoints = train_seeds(dataset, run, model=self.name, **self.training)
            models = [EvaluatedModel.of(checkpoint) for checkpoint in checkpoints]
        models = [replace(model, compile=compile) for model in models]
        paired = {
            model.seed: train_again(model, dataset, run / f"{Path(model.name).name}-{task}-seed{model.seed}", task=task)
            for model in (models if task else ())
        }
        if self.second is not None:
            second = load_model(dataset, self.second, run, any_task=True)
            paired = dict.fromkeys((model.seed for model in models), second)
        permuted = {
            model.seed: train_again(
                model, dataset, run / PERMUTED / f"{model.name}-seed{model.seed}", labels="permuted"
            )
            for model in (models if shuffled else ())
        }
        return {"models": models, "paired": paired, "shuffled": permuted}


def resolve_models(
    dataset: Dataset,
    model: str | Path | GivenModel,
    second: str | Path | GivenModel | None,
    second_task: str | None,
    run: Path,
    *,
    scale: str,
    settings: Mapping[str, Any] | None,
    n_trainings: int | None,
    reliance: bool | None,
) -> ChosenModels:
    """The models of a run, whose parameters are those of :func:`salgen.evaluate`; a trained one is loaded."""
    _check_second(second, second_task, dataset, model)
    name = str(model)
    if not isinstance(model, str) or name not in MODELS.entries:
        loaded = load_model(dataset, model, run)
        if settings or reliance is not None or n_trainings not in (None, 1):
            raise SalgenError(f"{model} is trained already: leave out training settings, reliance and n_trainings")
        return ChosenModels(dataset, name, [loaded], loaded.classifier, {}, second, second_task)
    if not dataset.spec.splits.get("train"):
        raise SalgenError(f"{dataset.path} has no training images for {name}: give a trained model (model=, --model)")
    network = initial_classifier(dataset, model=name, scale=scale, settings=settings)
    training = {
        "scale": scale,
        "settings": _with_reliance(settings or {}, reliance, dataset, name, scale),
        "n_trainings": at_least(1, SEEDS[scale] if n_trainings is None else n_trainings, "n_trainings"),
    }
    return ChosenModels(dataset, name, [], network, training, second, second_task)


def _with_reliance(
    settings: Mapping[str, Any], reliance: bool | None, dataset: Dataset, model: str, scale: str
) -> Mapping[str, Any]:
    """The settings of a training for reliance, unless it is turned off; a warning says why where it cannot be."""
    if reliance is False or "reliance" in settings:
        return settings
    chosen = {**settings, "reliance": training_settings.RELIANCE}
    try:
        training_settings.choose_settings(model, scale, chosen)
        check_redrawable(dataset)
    except SalgenError as error:
        if reliance:
            raise
        warn(f"{model} is trained plainly, not for reliance: {error}")
        return settings
    return chosen


def _check_second(
    second: str | Path | GivenModel | None, task: str | None, dataset: Dataset, first: str | Path | GivenModel
) -> None:
    if second is not None and task is not None:
        raise SalgenError("paired_model and paired_task: give only one, the model or the task that it is to learn")
    if isinstance(second, (str, Path)) and not Path(second).exists():
        raise SalgenError(f"paired model {second}: give a checkpoint's folder, or {FORMS}")
    if task is None:
        return
    if task not in dataset.tasks:
        raise unknown_name(f"task of {dataset.path}", task, dataset.tasks)
    if task == next(iter(dataset.tasks)):
        raise SalgenError(f"paired_task = {task}: the first model learns that task; name another one")
    if isinstance(first, GivenModel):
        raise SalgenError(f"paired_task = {task}: nobody knows how {first} was trained; give paired_model instead")
