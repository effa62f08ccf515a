import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import pytest
import torch
from checkpoint_cards import CARD_VALUES
from salgen.errors import SalgenError
from salgen.evaluation.training.checkpoints import (
    CARD,
    WEIGHTS,
    build_classifier,
    check_fits,
    check_same,
    load_checkpoint,
    save_checkpoint,
)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "checkpoint"
    save_checkpoint(path, build_classifier(CARD_VALUES).state_dict(), CARD_VALUES)
    return path


def error_of(call, *args):
    with pytest.raises(SalgenError) as caught:
        call(*args)
    return str(caught.value)


def assert_same_weights(one, other):
    """Bit for bit; outputs may differ by rounding, since loaded weights lie in another order in memory."""
    other = other.state_dict()
    assert one.state_dict().keys() == other.keys()
    assert all(torch.equal(tensor, other[name]) for name, tensor in one.state_dict().items())


def test_what_was_saved_is_loaded_also_with_a_card_that_states_no_digest(folder):
    saved = build_classifier(CARD_VALUES).eval()
    trained = load_checkpoint(folder)
    images = torch.rand(5, 1, 8, 12)
    assert trained.card == CARD_VALUES
    assert trained.card.dataset == "squares"
    assert trained.path == folder
    assert not trained.classifier.training
    assert trained.classifier.cam_layer == "block2.relu2"
    assert_same_weights(trained.classifier, saved)
    torch.testing.assert_close(trained.classifier(images), saved(images))
    assert sorted(path.name for path in folder.iterdir()) == [CARD, WEIGHTS]
    values = json.loads((folder / CARD).read_text())
    assert values.pop("weights_sha256") == hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    (folder / CARD).write_text(json.dumps(values))
    assert load_checkpoint(folder).card.weights_sha256 == ""


def test_weights_of_another_training_beside_the_card_and_no_folder_are_said(folder, tmp_path):
    """They fit the network, so nothing but their digest tells them apart."""
    other = replace(CARD_VALUES, seed=CARD_VALUES.seed + 1)
    save_checkpoint(tmp_path / "other", build_classifier(other).state_dict(), other)
    (folder / WEIGHTS).write_bytes((tmp_path / "other" / WEIGHTS).read_bytes())
    assert "does not hold the weights" in (message := error_of(load_checkpoint, folder))
    assert "in model.json" in message
    message = error_of(load_checkpoint, tmp_path / "nothing")
    assert message.startswith(f"no checkpoint at {tmp_path / 'nothing'}")


def test_a_checkpoint_that_is_replaced_has_no_card_meanwhile(folder, monkeypatch):
    def stopped(*_):
        assert not (folder / CARD).exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("salgen.evaluation.training.checkpoints.write_bytes", stopped)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(folder, build_classifier(CARD_VALUES).state_dict(), CARD_VALUES)
    assert "no checkpoint at" in error_of(load_checkpoint, folder)


@pytest.mark.parametrize("data", [b"", b"\xff" * 400, None])
def test_weights_that_are_damaged_or_missing(folder, data):
    (folder / WEIGHTS).unlink() if data is None else (folder / WEIGHTS).write_bytes(data)
    assert f"{folder / WEIGHTS} does not hold the weights of" in error_of(load_checkpoint, folder)


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[]", b'{"model": "lesion-cnn"}'])
def test_a_card_that_is_something_else(folder, data):
    (folder / CARD).write_bytes(data)
    assert f"{folder / CARD} is no card of a checkpoint" in error_of(load_checkpoint, folder)


class Images(list):
    """A data set of one image with the attributes that `check_fits` reads."""

    def __init__(self, shape=(1, 8, 12), classes=("dark", "bright"), task="label", multi_label=()):
        super().__init__([{"image": np.zeros(shape, np.float32)}])
        self.path, self.tasks, self.manifest = "data", {task: classes}, SimpleNamespace(multi_label=multi_label)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (Images(shape=(3, 8, 12)), "channels 1 in the model, 3 in the data"),
        (Images(shape=(1, 12, 8)), "image size 8x12 in the model, 12x8 in the data"),
        (Images(classes=("a", "b", "c")), "classes dark, bright in the model, a, b, c in the data"),
        (Images(classes=("bright", "dark")), "classes dark, bright in the model, bright, dark in the data"),
        (Images(task="other"), "task label in the model, other in the data"),
        (Images(multi_label=("label",)), "classes of an image one in the model, several in the data"),
    ],
)
def test_a_model_fits_its_own_kind_of_data_alone(folder, data, fault):
    check_fits(load_checkpoint(folder), Images())
    message = error_of(check_fits, load_checkpoint(folder), data)
    assert fault in message
    assert "squares" in message


def test_difference_names_what_differs():
    check_same(Path("c"), CARD_VALUES, replace(CARD_VALUES, dataset="a copy of it", device="cuda"))
    for changes, says in (
        ({"seed": 4}, "(seed = 3 there, 4 here)"),
        ({"settings": CARD_VALUES.settings | {"learning_rate": 0.1}}, "(learning_rate = 0.003 there, 0.1 here)"),
        ({"dataset_fingerprint": "0"}, "(dataset fingerprint = "),
    ):
        assert says in error_of(check_same, Path("c"), CARD_VALUES, replace(CARD_VALUES, **changes))
