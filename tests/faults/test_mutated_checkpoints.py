"""Damaged checkpoints: the card, the weights, and the patterns of a network."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
import pytest
import torch
from checkpoint_cards import CARD_VALUES
from mutations import mutated_bytes, mutated_json
from trials import Box, run
from salgen.evaluation.attribution.patterns import Patterns
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS, build_classifier, load_checkpoint, save_checkpoint

IMAGE = (1, 1, 16, 16)
LEARNT = replace(
    CARD_VALUES,
    image_size=[16, 16],
    class_names=["healthy", "lesion"],
    dataset="tiny",
    seed=0,
    settings={"epochs": 1, "learning_rate": 0.01},
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network that learnt nothing, with patterns beside its weights."""
    folder = tmp_path_factory.mktemp("original") / "checkpoint"
    save_checkpoint(folder, build_classifier(LEARNT).state_dict(), LEARNT)
    Patterns((torch.ones(2, 3, dtype=torch.float64), torch.ones(4, dtype=torch.float64)), (0, 1)).save(
        folder / "patterns.safetensors"
    )
    return folder


@pytest.fixture
def box(checkpoint: Path) -> Iterator[Box]:
    made = Box(checkpoint)
    yield made
    made.remove()


def use(folder: Path) -> None:
    """Load a checkpoint and ask it for an answer."""
    trained = load_checkpoint(folder, "cpu")
    channels, (height, width) = trained.card.channels, trained.card.image_size
    if height * width > 1 << 16:
        return
    with torch.no_grad():
        trained.classifier(torch.zeros(1, channels, height, width))


def test_mutated_cards(request: pytest.FixtureRequest, box: Box) -> None:
    def trial(rng: Random) -> str:
        box.fresh()
        (box.inside / CARD).write_bytes(mutated_json((box.inside / CARD).read_text(), rng))
        return box.attempt("checkpoint", {"load": lambda: use(box.inside)})

    run(request, "checkpoint cards", 600, trial)


def test_mutated_weights(request: pytest.FixtureRequest, box: Box) -> None:
    def trial(rng: Random) -> str:
        box.fresh()
        damage_tensors(box.inside / WEIGHTS, rng)
        return box.attempt("checkpoint", {"load": lambda: use(box.inside)})

    run(request, "weights (safetensors)", 500, trial)


def test_mutated_patterns(request: pytest.FixtureRequest, box: Box) -> None:
    def trial(rng: Random) -> str:
        box.fresh()
        path = box.inside / "patterns.safetensors"
        damage_tensors(path, rng)
        return box.attempt(path.name, {"load": lambda: Patterns.load(path)})

    run(request, "patterns (safetensors)", 200, trial)


def damage_tensors(path: Path, rng: Random) -> None:
    """Damage a safetensors file: any bytes, or an entry of its head with a length that is right."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    if rng.random() < 0.5:
        head = mutated_json(data[8 : 8 + length].decode(), rng)
        path.write_bytes(len(head).to_bytes(8, "little") + head + data[8 + length :])
    elif rng.random() < 0.5:  # most bytes are weights, of which any is a weight
        path.write_bytes(mutated_bytes(data[: 8 + length], rng) + data[8 + length :])
    else:
        path.write_bytes(mutated_bytes(data, rng))


def test_the_original_is_sound(checkpoint: Path) -> None:
    """Or nothing that is refused here would mean anything."""
    use(checkpoint)
    assert Patterns.load(checkpoint / "patterns.safetensors").degenerate == (0, 1)
