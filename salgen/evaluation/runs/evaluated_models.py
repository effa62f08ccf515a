"""The models that a run explains: trained here, read from a checkpoint, or made by the user's own function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.artifacts.predictions import Classes, predicted_classes
from salgen.evaluation.runs.given_models import FORMS, GivenModel
from salgen.evaluation.training.checkpoints import WEIGHTS, LoadedCheckpoint, check_fits, load_checkpoint, read_card
from salgen.evaluation.training.training import train, train_seeds
from salgen.files import sha256_of
from salgen.registry import MODELS
from salgen.types import Float32


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


def train_models(
    dataset: Dataset, model: str, run: Path, *, scale: str, settings: Mapping[str, Any] | None, seeds: int
) -> list[EvaluatedModel]:
    """A registered model, trained with each seed."""
    trained = train_seeds(
        dataset.path, run, model=model, source=dataset.source, scale=scale, settings=settings, seeds=seeds
    )
    return [EvaluatedModel.of(checkpoint) for checkpoint in trained]


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
    checkpoint = train(
        dataset.path,
        out,
        model=card.model,
        seed=card.seed,
        task=task or card.task,
        source=dataset.source,
        settings=settings,
        images=images,
    )
    return EvaluatedModel.of(checkpoint)


def load_model(dataset: Dataset, model: str | Path | GivenModel, run: Path, any_task: bool = False) -> EvaluatedModel:
    """A model that is trained already: from a checkpoint, or given."""
    if isinstance(model, GivenModel):
        classifier = model.load(dataset)
        origin: dict[str, Any] = {
            "checkpoint": str(model),
            "trained_on": None,
            "settings": model.settings(classifier),
            "training_seconds": None,
        }
        return EvaluatedModel(model.name, 0, classifier, model.digest(classifier, dataset), run, origin)
    if not Path(model).exists():
        MODELS.load(str(model))  # raises with the nearest registered name
    checkpoint = load_checkpoint(Path(model))
    check_fits(checkpoint, dataset, any_task)
    return EvaluatedModel.of(checkpoint)


@dataclass(frozen=True)
class Pairing:
    """The second model of a run, if it has one, given or to be trained."""

    # a checkpoint's folder or a given network; it may have learnt any task of the data set
    model: str | Path | GivenModel | None
    task: str | None  # the task for which a second model is trained, otherwise as the first one was

    @property
    def requested(self) -> bool:
        """True if the run has a second model."""
        return self.label is not None

    @property
    def label(self) -> str | None:
        """The task, or the checkpoint as ``run.json`` names it; None without a second model."""
        if self.model is None or isinstance(self.model, GivenModel):
            return self.task if self.model is None else str(self.model)
        return Path(self.model).name

    def check(self, dataset: Dataset, first: str | Path | GivenModel) -> None:
        """Raise a SalgenError for whatever can be checked before any work."""
        if self.model is not None and self.task is not None:
            raise SalgenError("paired_model and paired_task: give only one, the model or the task that it is to learn")
        if isinstance(self.model, (str, Path)) and not Path(self.model).exists():
            raise SalgenError(f"paired model {self.model}: give a checkpoint's folder, or {FORMS}")
        if self.task is None:
            return
        if self.task not in dataset.tasks:
            raise unknown_name(f"task of {dataset.path}", self.task, dataset.tasks)
        if self.task == next(iter(dataset.tasks)):
            raise SalgenError(f"paired_task = {self.task}: the first model learns that task; name another one")
        if isinstance(first, GivenModel):
            raise SalgenError(
                f"paired_task = {self.task}: it is not known how {first} was trained; give a second model "
                "as paired_model"
            )

    def models(self, firsts: Sequence[EvaluatedModel], dataset: Dataset, run: Path) -> dict[int, EvaluatedModel]:
        """Training seed to the second model, which is trained if a task is given."""
        if self.model is not None:
            return dict.fromkeys((first.seed for first in firsts), load_model(dataset, self.model, run, any_task=True))
        if self.task is None:
            return {}
        return {
            first.seed: train_again(
                first, dataset, run / f"{Path(first.name).name}-{self.task}-seed{first.seed}", task=self.task
            )
            for first in firsts
        }
