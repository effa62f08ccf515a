"""Training on permuted labels: which are, which are not, and that nothing else changes."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from salgen.errors import SalgenError
from salgen.evaluation.training import training_config, training_data
from salgen.evaluation.training.checkpoints import WEIGHTS
from salgen.evaluation.training.training import train
from salgen.evaluation.training.training_data import load_split
from salgen.evaluation.training.training_settings import TrainingSettings, choose_settings
from salgen.seeding import Stream

SMALL = {"widths": "4,4", "hidden": 8, "batch_size": 8, "epochs": 2}
SIZES = {"train": 40, "val": 12, "test": 10}


class Bars:
    """Images with a bright bar or without, with the attributes of a data set that training reads."""

    def __init__(self, path, split, source=None):
        rng = np.random.default_rng(list(SIZES).index(split))
        self.labels = np.arange(SIZES[split]) % 2
        self.pixels = rng.integers(0, 99, (SIZES[split], 1, 8, 8), dtype=np.uint8)
        self.pixels[self.labels == 1, :, 2:4] += 150
        self.path, self.name, self.split, self.fingerprint = Path(path), "bars", split, "f" * 64
        self.tasks, self.manifest = {"label": ("plain", "bar")}, SimpleNamespace(multi_label=())
        self.spec = SimpleNamespace(image_size=(8, 8), bit_depth=8, splits=dict(SIZES))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"image": self.pixels[index].astype(np.float32) / 255}

    def column(self, name):
        return self.labels

    def images(self):
        return self.pixels


class PermutedByHand(Bars):
    """The same, with the labels that training with seed 3 on permuted labels should see."""

    def column(self, name):
        if self.split == "test":
            return self.labels
        words = Stream("training", 3, "labels", self.split).words(len(self))
        return np.array([self.labels[place] for place in sorted(range(len(self)), key=lambda k: words[k])])


@pytest.fixture(autouse=True)
def bars(monkeypatch):
    read(monkeypatch, Bars)


def read(monkeypatch, dataset):
    for module in (training_config, training_data):
        monkeypatch.setattr(module, "open_dataset", dataset)


def test_training_and_validation_labels_are_permuted_and_nothing_else(tmp_path, monkeypatch):
    permuted = train("bars", tmp_path / "permuted", settings=SMALL | {"labels": "permuted"}, seed=3)
    read(monkeypatch, PermutedByHand)
    by_hand = train("bars", tmp_path / "by-hand", settings=SMALL, seed=3)
    assert (tmp_path / "permuted" / WEIGHTS).read_bytes() == (tmp_path / "by-hand" / WEIGHTS).read_bytes()
    assert permuted.card.history == by_hand.card.history
    assert permuted.card.test_correct == by_hand.card.test_correct


def test_the_card_says_which_labels_were_learnt(tmp_path):
    assert train("bars", tmp_path / "true", settings=SMALL).card.settings["labels"] == "true"
    there = tmp_path / "permuted"
    assert train("bars", there, settings=SMALL | {"labels": "permuted"}).card.settings["labels"] == "permuted"
    with pytest.raises(SalgenError, match="labels = permuted there, true here"):
        train("bars", there, settings=SMALL)


def test_labels_keep_their_counts_and_images_stay():
    device = torch.device("cpu")
    plain = load_split(Path("bars"), "train", "label", device, None)
    permuted = load_split(Path("bars"), "train", "label", device, None, label_order=Stream("labels"))
    assert torch.equal(plain.images, permuted.images)
    assert not torch.equal(plain.labels, permuted.labels)
    assert torch.equal(plain.labels.bincount(), permuted.labels.bincount())


def test_each_seed_and_split_has_an_order_of_its_own():
    settings = TrainingSettings(labels="permuted")
    orders = {
        tuple(settings.label_order(seed, split).permutation(20)) for seed in range(3) for split in ("train", "val")
    }
    assert len(orders) == 6
    assert settings.label_order(0, "test") is None
    assert TrainingSettings().label_order(0, "train") is None


def test_other_words_are_refused():
    with pytest.raises(SalgenError, match="labels = 'shuffled': must be one of true, permuted"):
        choose_settings("lesion-cnn", "small", {"labels": "shuffled"})
