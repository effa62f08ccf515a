"""Training settings that belong to no model, with defaults per scale."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.models import Model
from salgen.parameters import build, param
from salgen.registry import MODELS
from salgen.seeding import Stream

SEEDS: Mapping[str, int] = {"demo": 1, "small": 3, "full": 5}  # trainings at each scale: one carries no verdict
RELIANCE = 2.0  # weight of the penalty in trainings for reliance


@dataclass(frozen=True)
class TrainingSettings:
    """Optimiser, schedule and stopping.

    The fields' defaults are those of the scales ``demo`` and ``small``; ``full`` is the protocol of
    Budding et al. 2021, whose early stop has a minimal improvement of 5e-4 (their text prints 5-4).
    """

    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "demo": {},
        "small": {},
        "full": {
            "optimiser": "sgd",
            "learning_rate": 5e-5,
            "weight_decay": 0.0,
            "schedule": "constant",
            "epochs": 125,
            "batch_size": 128,
            "stop_loss": 0.05,
            "patience": 10,
        },
    }

    optimiser: str = param("adamw", "how weights are updated", choices=("adamw", "sgd"))
    learning_rate: float = param(1e-2, "learning rate, the highest one of a schedule", low=1e-12)
    momentum: float = param(0.9, "momentum of sgd", low=0.0, high=1.0)
    weight_decay: float = param(0.01, "weight decay", low=0.0)
    schedule: str = param("one-cycle", "how the learning rate changes", choices=("one-cycle", "cosine", "constant"))
    epochs: int = param(6, "passes over the training images, at most", low=1)
    batch_size: int = param(32, "images per step, over all devices", low=1)
    stop_loss: float | None = param(None, "stop once the validation loss is below this", low=0.0)
    stop_accuracy: float | None = param(
        None, "stop after two epochs of at least this validation accuracy", low=0.0, high=1.0
    )
    patience: int | None = param(None, "stop after this many epochs without a better validation loss", low=1)
    min_delta: float = param(5e-4, "how much lower a better validation loss must be", low=0.0)
    rotation: float = param(0.0, "turn each training image by up to so many degrees either way", low=0.0, high=180.0)
    flips: bool = param(False, "mirror each training image at random, along both axes")
    missing: float = param(
        0.0, "share of each training image's pixels, drawn at each step, that become its mean colour", low=0.0, high=1.0
    )
    precision: str = param("32-true", "arithmetic", choices=("32-true", "bf16-mixed"))
    devices: int = param(1, "devices to train on at once", low=1)
    labels: str = param("true", "what to learn; permuted labels teach nothing", choices=("true", "permuted"))
    reliance: float = param(
        0.0,
        "weight of the penalty on backgrounds that move the model; above 0 images stand on other backgrounds, beside "
        "their twins, and there are twice as many epochs if their number is not stated",
        low=0.0,
    )
    max_memory_gb: float | None = param(None, "memory for decoded images; half of what is free by default", low=0.0)

    def __post_init__(self) -> None:
        if self.reliance and (self.rotation or self.flips or self.missing or self.labels != "true"):
            raise SalgenError(
                "training: reliance goes without rotation, flips, missing pixels and permuted labels: leave out either"
            )

    def reliance_weight(self, epoch: int) -> float:
        """The weight of the penalty in an epoch, from 0: it rises evenly over the first third of them."""
        return self.reliance * min(1.0, 3.0 * epoch / self.epochs)

    def label_order(self, seed: int, split: str) -> Stream | None:
        """The stream that permutes a split's labels, or None where each image keeps its own, as in the test split."""
        return Stream("training", seed, "labels", split) if self.labels == "permuted" and split != "test" else None


def choose_settings(
    model: str, scale: str, settings: Mapping[str, Any] | None = None
) -> tuple[Model, TrainingSettings]:
    """A model and its training settings: the scale's defaults, then the model's, then `settings` of both by name."""
    plugin = MODELS.load(model)
    if scale not in TrainingSettings.scales:
        raise unknown_name("scale", scale, TrainingSettings.scales)
    of_training = {field.name for field in dataclasses.fields(TrainingSettings)}
    of_model = {field.name for field in dataclasses.fields(plugin)} - of_training
    overrides = {key.replace("-", "_"): value for key, value in (settings or {}).items()}
    for key in overrides:
        if key not in of_training | of_model:
            raise unknown_name(f"setting of training or {model}", key, of_training | of_model)
    model_values = {**plugin.scales.get(scale, {}), **{k: v for k, v in overrides.items() if k in of_model}}
    values = {
        **TrainingSettings.scales[scale],
        **plugin.training.get(scale, {}),
        **{k: v for k, v in overrides.items() if k in of_training},
    }
    chosen = build(TrainingSettings, values, "training")
    if chosen.reliance and "epochs" not in overrides:
        chosen = dataclasses.replace(chosen, epochs=2 * chosen.epochs)
    return build(plugin, model_values), chosen
