"""The state of a training: its epochs so far and its best weights, kept on disk between epochs."""

import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
import torch
from torch import Tensor, nn
from salgen.errors import readable
from salgen.evaluation.training.checkpoints import TrainingConfig
from salgen.evaluation.training.training_settings import TrainingSettings
from salgen.files import write_bytes

STATE = "training.pt"
STEADY = 2  # epochs for which an accuracy must hold


@dataclass(frozen=True)
class Epoch:
    """The losses and accuracy of one epoch."""

    train_loss: float  # mean over the steps, while the weights changed
    # val_loss, val_accuracy: of the weights at its end
    val_loss: float
    val_accuracy: float


@dataclass
class TrainingState:
    """A training's past."""

    history: list[Epoch] = field(default_factory=list)  # the epochs so far
    best: dict[str, Tensor] = field(default_factory=dict)  # the weights at the end of the best one, on the CPU
    # seconds, training_seconds: time spent, in all and without validation
    seconds: float = 0.0
    training_seconds: float = 0.0

    def add(self, epoch: Epoch, classifier: nn.Module) -> None:
        """Append an epoch, and keep its weights if it is the best so far."""
        self.history.append(epoch)
        if best_epoch(self.history) == len(self.history) - 1:
            self.best = {name: tensor.detach().cpu().clone() for name, tensor in classifier.state_dict().items()}


def best_epoch(history: Sequence[Epoch]) -> int:
    """Index of the epoch with the best validation accuracy, then the lowest validation loss, then the first."""
    return max(range(len(history)), key=lambda k: (history[k].val_accuracy, -history[k].val_loss, -k))


def is_over(history: Sequence[Epoch], settings: TrainingSettings) -> bool:
    """True if a training ends here; an epoch is better if its validation loss falls by more than `min_delta`."""
    losses = [epoch.val_loss for epoch in history]
    if len(losses) >= settings.epochs:
        return True
    if losses and settings.stop_loss is not None and losses[-1] < settings.stop_loss:
        return True
    last = [epoch.val_accuracy for epoch in history[-STEADY:]]
    if settings.stop_accuracy is not None and len(last) == STEADY and min(last) >= settings.stop_accuracy:
        return True
    best, waited = float("inf"), 0
    for loss in losses:
        best, waited = (loss, 0) if loss < best - settings.min_delta else (best, waited + 1)
    return settings.patience is not None and waited >= settings.patience


def write_state(folder: Path, setup: TrainingConfig, state: TrainingState, learned: dict[str, Any]) -> None:
    """Store a state, and the learner's own, in place of the one before."""
    buffer = io.BytesIO()
    past = {**vars(state), "history": [asdict(epoch) for epoch in state.history]}
    torch.save({"setup": json.dumps(asdict(setup)), "learned": learned, **past}, buffer)
    write_bytes(folder / STATE, buffer.getvalue())


def read_state(folder: Path) -> tuple[TrainingConfig, TrainingState, dict[str, Any]] | None:
    """The state that :func:`write_state` stored, or None."""
    file = folder / STATE
    if not file.exists():
        return None
    with readable(f"{file} is damaged", ": remove it, and the training starts again"):
        kept = torch.load(file, map_location="cpu", weights_only=True)  # its content is never executed
        history = [Epoch(**epoch) for epoch in kept["history"]]
        state = TrainingState(history, kept["best"], kept["seconds"], kept["training_seconds"])
        return TrainingConfig(**json.loads(kept["setup"])), state, kept["learned"]


def remove_state(folder: Path) -> None:
    """Remove a state that is no longer needed."""
    (folder / STATE).unlink(missing_ok=True)
