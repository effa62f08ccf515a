"""Checkpoints: weights as safetensors beside a JSON file that describes them. Nothing is unpickled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
import safetensors.torch
import torch
from torch import Tensor
from salgen.errors import SalgenError, reason
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.random_state import random_state
from salgen.evaluation.models.weight_files import read_tensors
from salgen.files import strict_json, write_bytes, write_text
from salgen.parameters import to_json
from salgen.registry import MODELS
from salgen.typed_json import from_json

if TYPE_CHECKING:
    from salgen.datasets.reading.reader import Dataset

WEIGHTS = "weights.safetensors"
CARD = "model.json"


@dataclass(frozen=True)
class TrainingConfig:
    """The description of a training: everything that determines its weights."""

    # model, parameters: registered name, and the plug-in's parameters as JSON values
    model: str
    parameters: dict[str, Any]
    # channels, image_size: of the images: C and [H, W]
    channels: int
    image_size: list[int]
    # task, class_names: the task that is learnt, and its classes
    task: str
    class_names: list[str]
    # dataset, dataset_fingerprint: the data set's name, which two copies need not share, and its fingerprint
    dataset: str = field(compare=False)
    dataset_fingerprint: str
    # seed, settings: training seed and settings as JSON values
    seed: int
    settings: dict[str, Any]
    multi_label: bool = field(default=False, kw_only=True)  # whether an image may show several of the classes


@dataclass(frozen=True)
class CheckpointMetadata(TrainingConfig):
    """The content of `model.json`: the training's configuration and outcome."""

    history: list[dict[str, float]]  # per epoch: train_loss, val_loss, val_accuracy
    best_epoch: int  # the epoch, counted from 1, whose weights these are, chosen by the validation split
    # test_accuracy, test_correct, n_test: measured once, on the chosen weights. An image of several classes is right if
    # it shows the most likely one
    test_accuracy: float
    test_correct: int
    n_test: int
    chance: float  # share of the test split's images that show the most frequent class
    # seconds, images_per_second, device, versions: its time and speed, the device, and the versions of libraries
    seconds: float
    images_per_second: float
    device: str
    versions: dict[str, str]
    # SHA-256 of the file of weights, which `save_checkpoint` states; empty in an older card
    weights_sha256: str = field(default="", compare=False, kw_only=True)


@dataclass(frozen=True)
class LoadedCheckpoint:
    """A trained classifier, in evaluation mode, with its card and its folder."""

    classifier: Classifier
    card: CheckpointMetadata
    path: Path


def build_classifier(setup: TrainingConfig) -> Classifier:
    """A fresh classifier: its weights depend on `setup` alone, and none are read or fetched."""
    plugin = MODELS.create(setup.model, setup.parameters)
    height, width = setup.image_size
    with random_state("training", setup.seed, "weights"):
        network = plugin.build(setup.channels, len(setup.class_names), (height, width))
    if len(setup.class_names) == 1:
        network.multi_label = True  # its one logit is not for two classes
    layer = plugin.cam_layer(network)
    return Classifier(network, plugin.normalise(setup.channels), cam_layer=layer, multi_label=setup.multi_label)


def save_checkpoint(folder: Path, weights: Mapping[str, Tensor], card: CheckpointMetadata) -> None:
    """Write a checkpoint; the card comes last and states the weights' digest, so a folder that has one is whole."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CARD).unlink(missing_ok=True)
    data = safetensors.torch.save(tensors)
    write_bytes(folder / WEIGHTS, data)
    described = asdict(replace(card, weights_sha256=hashlib.sha256(data).hexdigest()))
    write_text(folder / CARD, json.dumps(described, indent=2, allow_nan=False) + "\n")


def load_checkpoint(path: str | Path, device: str | torch.device | None = None) -> LoadedCheckpoint:
    """The model in a folder, in evaluation mode and channels-last order, on `device`, or a CUDA device, or the CPU."""
    path = Path(path)
    card = read_card(path)
    try:
        data = (path / WEIGHTS).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if digest != (card.weights_sha256 or digest):
            raise ValueError(f"SHA-256 {digest[:12]}, and {card.weights_sha256[:12]} in {CARD}")
        classifier = build_classifier(card)
        classifier.load_state_dict(safetensors.torch.load(data))
    except Exception as error:  # networks fail in any way
        raise SalgenError(
            f"{path / WEIGHTS} does not hold the weights of {card.model} as {CARD} has it ({reason(error)}): train "
            "again, or restore both files"
        ) from None
    place = device if device is not None else "cuda" if torch.cuda.is_available() else "cpu"
    classifier = classifier.to(place, memory_format=torch.channels_last)  # type: ignore[call-overload]
    return LoadedCheckpoint(classifier.eval(), card, path)


def read_card(path: Path) -> CheckpointMetadata:
    """The card of a checkpoint folder."""
    file = path / CARD
    if path.is_file():
        first = next(iter(read_tensors(path)))
        raise SalgenError(
            f"{path} holds tensors ({first}, ...) and not their network: write torchvision:NAME:weights={path}, "
            f"timm:NAME:weights={path}, or PACKAGE.MODULE:FUNCTION"
        )
    try:
        card: CheckpointMetadata = from_json(strict_json(file.read_text(encoding="utf-8")), CheckpointMetadata)
    except FileNotFoundError:
        inside = [card.parent for card in sorted(path.glob(f"*/{CARD}"))]
        hint = f"; did you mean {inside[0]}?" if inside else ""
        raise SalgenError(f"no checkpoint at {path}: must be a folder that holds {CARD} and {WEIGHTS}{hint}") from None
    except (SalgenError, OSError, ValueError, RecursionError) as error:
        raise SalgenError(f"{file} is no card of a checkpoint ({reason(error)}): train again, or restore it") from None
    return card


def check_fits(trained: LoadedCheckpoint, dataset: Dataset, any_task: bool = False) -> None:
    """Check that a model takes a data set's images and knows the classes of its default task, or of `any_task`."""
    card = trained.card
    channels, height, width = dataset[0]["image"].shape
    task = card.task if any_task and card.task in dataset.tasks else next(iter(dataset.tasks))
    classes, several = dataset.tasks[task], task in dataset.manifest.multi_label
    compared: dict[str, tuple[Any, ...]] = {
        "channels": (card.channels, channels),
        "image size": ("x".join(map(str, card.image_size)), f"{height}x{width}"),
        "classes": (", ".join(card.class_names), ", ".join(classes)),
        "task": (card.task, task),
        "classes of an image": tuple("several" if many else "one" for many in (card.multi_label, several)),
    }
    for name, (model_has, data_has) in compared.items():
        if model_has != data_has:
            raise SalgenError(
                f"checkpoint {trained.path} does not fit {dataset.path}: {name} {model_has} in the model, {data_has} "
                f"in the data; use the data set that it was trained on ({card.dataset}), or train a model on this one"
            )


def check_same(place: Path, existing: TrainingConfig, wanted: TrainingConfig) -> None:
    """Raise a SalgenError with the first difference if `place` holds another training."""
    known = to_json(MODELS.create(existing.model, existing.parameters))  # with parameters that are younger than it
    existing = replace(existing, parameters=known)
    for item in fields(TrainingConfig):
        there, here = getattr(existing, item.name), getattr(wanted, item.name)
        if not item.compare or there == here:
            continue
        name = item.name.replace("_", " ")
        if isinstance(there, dict):
            name = next(key for key in sorted({*there, *here}) if there.get(key) != here.get(key))
            there, here = there.get(name), here.get(name)
        raise SalgenError(f"{place} holds another training ({name} = {there} there, {here} here): give another folder")
