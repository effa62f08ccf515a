"""Damaged checkpoints: the card, the weights, and the patterns of a network."""

from dataclasses import replace
from pathlib import Path
from random import Random
import pytest
import torch
from checkpoint_cards import CARD_VALUES
from mutations import either, mutated_bytes, mutated_json
from trials import Box, Calls, Change, damage
from salgen.evaluation.attribution.patterns import Patterns
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS, build_classifier, load_checkpoint, save_checkpoint

PATTERNS = "patterns.safetensors"
LEARNT = replace(
    CARD_VALUES,
    image_size=[16, 16],
    class_names=["healthy", "lesion"],
    dataset="tiny",
    seed=0,
    settings={"epochs": 1, "learning_rate": 0.01},
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network that learnt nothing, with patterns beside its weights."""
    folder = tmp_path_factory.mktemp("original") / "checkpoint"
    save_checkpoint(folder, build_classifier(LEARNT).state_dict(), LEARNT)
    Patterns((torch.ones(2, 3, dtype=torch.float64), torch.ones(4, dtype=torch.float64)), (0, 1)).save(
        folder / PATTERNS
    )
    return folder


def use(folder: Path) -> None:
    """Load a checkpoint and ask it for an answer."""
    trained = load_checkpoint(folder, "cpu")
    channels, (height, width) = trained.card.channels, trained.card.image_size
    if height * width > 1 << 16:
        return
    with torch.no_grad():
        trained.classifier(torch.zeros(1, channels, height, width))


def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
    if path.name == PATTERNS:
        return path.name, {"load": lambda: Patterns.load(path)}
    return "checkpoint", {"load": lambda: use(box.inside)}


def other_head(data: bytes, rng: Random) -> bytes:
    """A safetensors file with another entry in its head and a length that is right."""
    length = int.from_bytes(data[:8], "little")
    head = mutated_json(data[8 : 8 + length], rng)
    return len(head).to_bytes(8, "little") + head + data[8 + length :]


def other_start(data: bytes, rng: Random) -> bytes:
    """Most bytes are weights, of which any is a weight: other bytes before them."""
    end = 8 + int.from_bytes(data[:8], "little")
    return mutated_bytes(data[:end], rng) + data[end:]


TENSORS = either(other_head, other_head, other_start, mutated_bytes)


@pytest.mark.parametrize(
    ("kind", "large", "files", "change"),
    [
        ("checkpoint cards", 600, CARD, mutated_json),
        ("weights (safetensors)", 500, WEIGHTS, TENSORS),
        ("patterns (safetensors)", 200, PATTERNS, TENSORS),
    ],
)
def test_damaged(request: pytest.FixtureRequest, box: Box, kind: str, large: int, files: str, change: Change) -> None:
    damage(request, box, kind, large, files, change, look)
