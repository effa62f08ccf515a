"""The models that a run explains: trained here, read from a checkpoint, or made by the user's own function."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.artifacts.predictions import Classes, predicted_classes
from salgen.evaluation.training.checkpoints import WEIGHTS, LoadedCheckpoint, check_fits, load_checkpoint, read_card
from salgen.evaluation.training.training import train, train_seeds
from salgen.files import sha256_of
from salgen.registry import MODELS
from salgen.types import Float32


@dataclass(frozen=True)
class EvaluatedModel:
    """A model under evaluation.

    Attributes
    ----------
    name, seed
        What the table calls it, and its training seed.
    classifier
        Images (N, C, H, W) in [0, 1] to logits (N, K), in evaluation mode.
    digest
        SHA-256 of its weights.
    folder
        Where what is fitted to it is kept.
    origin
        What ``run.json`` says of how it came about.
    task
        What it was trained to tell, or None where that is not known.
    """

    name: str
    seed: int
    classifier: nn.Module
    digest: str
    folder: Path
    origin: Mapping[str, Any]
    task: str | None = None

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next((p.device for p in self.classifier.parameters()), torch.device("cpu"))

    @cached_property
    def view(self) -> ModelView:
        """The model as methods see it: a private copy that shares its weights."""
        return ModelView.of(self.classifier)

    def probabilities(self, images: Float32) -> Float32:
        """Probabilities (n, K) of images (n, C, H, W)."""
        with torch.inference_mode():
            logits = self.view.logits(self.view.normalise(self.view.like(torch.from_numpy(images))))
        return np.asarray(self.view.probabilities(logits).cpu().numpy(), dtype=np.float32)

    def predict(self, images: Float32, labels: Classes) -> Classes:
        """The predicted class of each image (n, C, H, W) that is about a class of `labels`, int64 (n,)."""
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


def is_factory(model: str | Path) -> bool:
    """Whether it is written as ``package.module:function`` rather than a name or a folder."""
    return ":" in str(model) and not Path(model).exists()


def train_models(
    dataset: Dataset, model: str, run: Path, *, scale: str, settings: Mapping[str, Any] | None, seeds: int
) -> list[EvaluatedModel]:
    """A registered model, trained with each seed."""
    how: dict[str, Any] = {"scale": scale, "settings": settings, "seeds": seeds}
    trained = train_seeds(dataset.path, run, model=model, source=dataset.source, **how)
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
    how: dict[str, Any] = {"model": card.model, "seed": card.seed, "task": task or card.task, "source": dataset.source}
    return EvaluatedModel.of(train(dataset.path, out, settings=settings, images=images, **how))


def load_model(dataset: Dataset, model: str | Path, run: Path, any_task: bool = False) -> EvaluatedModel:
    """A model that is trained already: a checkpoint's, or what ``package.module:function`` returns.

    Raises
    ------
    SalgenError
        If it is neither, cannot be loaded, or does not fit the data.
    """
    if is_factory(model):
        return _from_factory(str(model), dataset, run)
    if not Path(model).exists():
        MODELS.load(str(model))  # raises with the nearest registered name
    checkpoint = load_checkpoint(Path(model))
    check_fits(checkpoint, dataset, any_task)
    return EvaluatedModel.of(checkpoint)


@dataclass(frozen=True)
class Pairing:
    """How a run comes by its second model, if it has one.

    Attributes
    ----------
    model
        A checkpoint's folder or ``"package.module:function"``; it may have learnt any task of the data set.
    task
        The task for which one is trained as the first model was.
    """

    model: str | Path | None
    task: str | None

    @property
    def given(self) -> bool:
        """Whether there is one."""
        return self.model is not None or self.task is not None

    def check(self, dataset: Dataset, first: str | Path) -> None:
        """Raise a SalgenError for what can be known to be wrong before any work."""
        if self.model is not None and self.task is not None:
            raise SalgenError("paired_model and paired_task: give one of them, the model or what it shall learn")
        if self.model is not None and not is_factory(self.model) and not Path(self.model).exists():
            raise SalgenError(f"paired model {self.model}: give a checkpoint's folder, or PACKAGE.MODULE:FUNCTION")
        if self.task is None:
            return
        if self.task not in dataset.tasks:
            raise unknown_name(f"task of {dataset.path}", self.task, dataset.tasks)
        if self.task == next(iter(dataset.tasks)):
            raise SalgenError(f"paired_task = {self.task}: the first model tells that; name another task")
        if is_factory(first):
            raise SalgenError(
                f"paired_task = {self.task}: how {first} was trained is not known; give a second model as paired_model"
            )

    def models(self, firsts: Sequence[EvaluatedModel], dataset: Dataset, run: Path) -> dict[int, EvaluatedModel]:
        """Training seed to the second model, which is trained where a task is given.

        Raises
        ------
        SalgenError
            If it cannot be loaded, or does not fit the data.
        """
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


def _from_factory(text: str, dataset: Dataset, run: Path) -> EvaluatedModel:
    named = _imported(text)
    module = named if isinstance(named, nn.Module) else _call(named, text)
    if not isinstance(module, nn.Module):
        raise SalgenError(f"model {text}: it returned {type(module).__name__}, and must return a torch.nn.Module")
    classifier = module.eval().to("cuda" if torch.cuda.is_available() else "cpu")
    logits = _logits(text, classifier, dataset)
    origin: dict[str, Any] = {"checkpoint": text, "trained_on": None, "settings": {}, "training_seconds": None}
    return EvaluatedModel(text, 0, classifier, _digest(text, classifier, logits), run, origin)


def _imported(text: str) -> Any:
    """What ``package.module:function`` names, looked up in the working directory too: a function or a module."""
    module, _, name = text.partition(":")
    if not module or not name or module.endswith(".py") or "/" in module:
        raise SalgenError(f"model {text}: write PACKAGE.MODULE:FUNCTION, such as my_models:detector")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        named = getattr(import_module(module), name)
    except (Exception, SystemExit) as error:  # a user's module may fail in any way
        raise SalgenError(f"model {text}: cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(here)
    if not callable(named):
        raise SalgenError(f"model {text}: {name} is no function; it must return a torch.nn.Module")
    return named


def _call(function: Callable[[], Any], text: str) -> Any:
    try:
        return function()
    except SalgenError as error:
        raise SalgenError(f"model {text}: {error}") from None
    except (Exception, SystemExit) as error:  # as may its function
        raise SalgenError(f"model {text}: calling it failed: {type(error).__name__}: {error}") from error


def _logits(text: str, classifier: nn.Module, dataset: Dataset) -> torch.Tensor:
    """The model's output for the data set's first image: one logit for each of its classes, or an error."""
    device = next((p.device for p in classifier.parameters()), torch.device("cpu"))
    image = torch.from_numpy(dataset[0]["image"][None]).to(device)
    task, classes = next(iter(dataset.tasks.items()))
    classifier.multi_label = task in dataset.manifest.multi_label  # type: ignore[assignment]
    view = ModelView.of(classifier)
    try:
        with torch.inference_mode():
            logits = view.network(view.normalise(view.like(image)))
    except Exception as error:  # a user's network may fail in any way
        reason = str(error).strip().partition("\n")[0]
        raise SalgenError(f"model {text} fails on an image {tuple(image.shape)}: {reason}") from error
    shape = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
    if shape != (1, len(classes)):
        raise SalgenError(
            f"model {text} gives {shape} for one image: must be logits (1, {len(classes)}), one for each of "
            f"{', '.join(classes)}"
        )
    return logits  # type: ignore[no-any-return]


def _digest(text: str, classifier: nn.Module, logits: torch.Tensor) -> str:
    """SHA-256 of all that is known of a model: its name, modules, logits of an image, and weights.

    Logits are taken to four digits, which the number of threads does not change.
    """
    rounded = " ".join(f"{value:.3e}" for value in logits.flatten().tolist())
    return weights_digest(classifier, f"{text}\n{classifier!r}\n{rounded}")


def weights_digest(classifier: nn.Module, text: str) -> str:
    """SHA-256 of a text and of a model's weights with their names."""
    digest = hashlib.sha256(text.encode())
    for name, tensor in classifier.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
