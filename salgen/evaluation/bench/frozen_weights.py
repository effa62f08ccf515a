"""Weights of networks in half precision, where no prediction changes."""

from collections.abc import Mapping
from pathlib import Path
import safetensors.torch
import torch
from torch import Tensor
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.training.checkpoints import WEIGHTS, load_checkpoint, read_card, save_checkpoint

BATCH = 64


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
