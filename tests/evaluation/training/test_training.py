import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lightning_fabric import Fabric
from stopped_training import train_until_stopped
from torch import nn
from torch.nn.functional import cross_entropy
from salgen.datasets.format.output_folder import sole_writer
from salgen.errors import SalgenError
from salgen.evaluation.training import checkpoints, training
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS, build_classifier, load_checkpoint
from salgen.evaluation.training.trainer import Trainer, batching
from salgen.evaluation.training.training import train, train_seeds
from salgen.evaluation.training.training_data import DeviceSplit, load_split
from salgen.evaluation.training.training_settings import TrainingSettings, choose_settings
from salgen.evaluation.training.training_state import STATE, Epoch, best_epoch, is_over
from salgen.seeding import Stream

SMALL = {"widths": "4,4", "hidden": 8, "batch_size": 8, "epochs": 3, "learning_rate": 0.01}
QUICK = SMALL | {"epochs": 2}


class Squares:
    """Dark images and images with a bright square, with the attributes of a data set that training reads."""

    sizes = {"train": 44, "val": 12, "test": 10}  # noqa: RUF012

    def __init__(self, path, split=None, source=None, fingerprint="f" * 64):
        split = split or "test"
        rng = np.random.default_rng(sorted(self.sizes).index(split))
        count = self.sizes[split]
        self.labels = np.arange(count) % 2
        self.pixels = rng.integers(0, 60, (count, 1, 8, 8), dtype=np.uint8)
        self.pixels[self.labels == 1, :, 2:6, 3:7] += 190
        self.path, self.name, self.split, self.fingerprint = Path(path), "squares", split, fingerprint
        self.tasks, self.manifest = {"label": ("dark", "bright")}, SimpleNamespace(multi_label=())
        self.spec = SimpleNamespace(image_size=(8, 8), bit_depth=8, splits=dict(self.sizes))

    def __len__(self):
        return len(self.labels)

    def of_split(self, split):
        return type(self)(self.path, split, fingerprint=self.fingerprint)

    def __getitem__(self, index):
        return {"image": self.pixels[index].astype(np.float32) / 255, "label": int(self.labels[index])}

    def column(self, name):
        return {"label": self.labels}[name]

    def images(self):
        return self.pixels


class PermutedByHand(Squares):
    """The same, with the labels that training with seed 3 on permuted labels should see."""

    def column(self, name):
        if self.split == "test":
            return self.labels
        words = Stream("training", 3, "labels", self.split).words(len(self))
        return np.array([self.labels[place] for place in sorted(range(len(self)), key=lambda k: words[k])])


@pytest.fixture(autouse=True)
def squares(monkeypatch):
    read(monkeypatch, Squares)


def read(monkeypatch, dataset):
    monkeypatch.setattr(training, "open_dataset", dataset)


def weights_of(folder):
    return (folder / WEIGHTS).read_bytes()


def error_of(call, *args, **kwargs):
    with pytest.raises(SalgenError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def test_learns_and_records_what_it_did(tmp_path):
    trained = train("squares", tmp_path / "c", settings=SMALL | {"epochs": 20}, seed=2)
    card = trained.card
    assert card.test_accuracy == 1.0
    assert (card.test_correct, card.n_test, card.chance) == (10, 10, 0.5)
    assert len(card.history) == 20
    assert card.history[-1]["train_loss"] < card.history[0]["train_loss"]
    assert (card.model, card.seed, card.channels, card.image_size) == ("lesion-cnn", 2, 1, [8, 8])
    assert (card.dataset, card.dataset_fingerprint, card.class_names) == ("squares", "f" * 64, ["dark", "bright"])
    assert card.parameters == {"widths": [4, 4], "hidden": 8, "batch_norm": True}
    assert card.settings["batch_size"] == 8
    assert card.images_per_second > 0
    assert sorted(path.name for path in trained.path.iterdir()) == [CARD, WEIGHTS]
    assert json.loads((trained.path / CARD).read_text())["test_accuracy"] == 1.0


def test_weights_are_those_of_the_best_epoch_and_test_is_measured_on_them(tmp_path):
    # A high constant rate, so that validation goes up and down.
    settings = SMALL | {"epochs": 6, "learning_rate": 0.1, "schedule": "constant"}
    trained = train("squares", tmp_path / "c", settings=settings)
    best = trained.card.history[trained.card.best_epoch - 1]
    accuracies = [epoch["val_accuracy"] for epoch in trained.card.history]
    assert best["val_accuracy"] == max(accuracies) > min(accuracies)
    for split, accuracy in (("val", best["val_accuracy"]), ("test", trained.card.test_accuracy)):
        data = Squares("squares", split)
        with torch.no_grad():
            logits = trained.classifier(torch.from_numpy(data.pixels / 255).float())
        assert (logits.argmax(1).numpy() == data.labels).mean() == accuracy
        if split == "val":
            assert cross_entropy(logits, torch.tensor(data.labels)).item() == pytest.approx(best["val_loss"], rel=1e-5)


def test_same_seed_same_weights_and_global_random_states_are_left_alone(tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("other", 1)):
        torch.manual_seed(len(name))
        train("squares", tmp_path / name, settings=SMALL, seed=seed)
    assert weights_of(tmp_path / "one") == weights_of(tmp_path / "two") != weights_of(tmp_path / "other")
    torch_before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    train("squares", tmp_path / "c", settings=SMALL)
    assert torch.equal(torch_before, torch.get_rng_state())
    assert np.array_equal(numpy_before, np.random.get_state()[1])  # noqa: NPY002


def test_seeds_go_into_folders_of_their_own(tmp_path):
    trained = train_seeds("squares", tmp_path, settings=SMALL | {"epochs": 1}, n_trainings=2)
    assert [t.path.name for t in trained] == ["lesion-cnn-seed0", "lesion-cnn-seed1"]
    assert [t.card.seed for t in trained] == [0, 1]
    assert "must be an integer of 1 or more" in error_of(train_seeds, "squares", tmp_path, n_trainings=0)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("how", [{}, {"optimiser": "sgd", "schedule": "constant", "batch_norm": False}])
def test_a_stopped_training_ends_with_the_same_weights(tmp_path, number, how):
    settings = SMALL | how
    train("squares", tmp_path / "whole", settings=settings)
    train_until_stopped(number, "squares", tmp_path / "stopped", settings=settings)
    left = [path.name for path in (tmp_path / "stopped").iterdir()]
    assert left == ([] if number == 1 else [STATE])
    resumed = train("squares", tmp_path / "stopped", settings=settings)
    assert weights_of(tmp_path / "stopped") == weights_of(tmp_path / "whole")
    assert resumed.card.history == load_checkpoint(tmp_path / "whole").card.history
    assert sorted(path.name for path in resumed.path.iterdir()) == [CARD, WEIGHTS]


def test_going_on_does_not_repeat_finished_epochs(tmp_path, monkeypatch):
    train_until_stopped(3, "squares", tmp_path / "c", settings=SMALL)
    epochs = []
    whole = Trainer.epoch
    monkeypatch.setattr(Trainer, "epoch", lambda *args: epochs.append(1) or whole(*args))
    train("squares", tmp_path / "c", settings=SMALL)
    assert len(epochs) == 1


def test_what_a_killed_process_left_is_cleared(tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / f".{STATE}.123.part").write_bytes(b"half")
    train("squares", tmp_path / "c", settings=SMALL | {"epochs": 1})
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == [CARD, WEIGHTS]


@pytest.mark.parametrize("content", [b"", b"half a file", "code"])
def test_damaged_state_is_one_line_and_is_never_unpickled(tmp_path, content):
    (tmp_path / "c").mkdir()
    if content == "code":
        torch.save({"learned": Path("anything that is no tensor")}, tmp_path / "c" / STATE)
    else:
        (tmp_path / "c" / STATE).write_bytes(content)
    said = error_of(train, "squares", tmp_path / "c", settings=SMALL)
    assert f"{STATE} is damaged" in said
    assert "remove it, and the training starts again" in said


def test_a_finished_training_is_not_repeated_with_a_card_from_before_a_parameter_too(tmp_path, monkeypatch):
    first = train("squares", tmp_path / "c", settings=SMALL)
    monkeypatch.setattr(training, "_run", None)
    again = train("squares", tmp_path / "c", settings=SMALL)
    assert again.card == first.card
    for name, tensor in first.classifier.state_dict().items():
        assert torch.equal(tensor, again.classifier.state_dict()[name])
    card = json.loads((tmp_path / "c" / CARD).read_text())
    del card["parameters"]["batch_norm"]
    (tmp_path / "c" / CARD).write_text(json.dumps(card))
    again = train("squares", tmp_path / "c", settings=SMALL)
    assert again.card == replace(first.card, parameters=card["parameters"])
    assert "batch_norm = True there, False here" in error_of(
        train, "squares", tmp_path / "c", settings=SMALL | {"batch_norm": False}
    )


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"settings": SMALL | {"learning_rate": 0.02}}, "learning_rate = 0.01 there, 0.02 here"),
        ({"settings": SMALL | {"hidden": 9}}, "hidden = 8 there, 9 here"),
        ({"settings": SMALL | {"labels": "permuted"}}, "labels = true there, permuted here"),
        ({"settings": SMALL, "seed": 1}, "seed = 0 there, 1 here"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_another_training_in_the_same_place_is_an_error(tmp_path, other, said, finished):
    if finished:
        train("squares", tmp_path / "c", settings=SMALL)
    else:
        train_until_stopped(2, "squares", tmp_path / "c", settings=SMALL)
    before = {path: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    message = error_of(train, "squares", tmp_path / "c", **other)
    assert "holds another training" in message
    assert said in message
    assert before == {path: path.read_bytes() for path in (tmp_path / "c").iterdir()}


def test_another_training_meanwhile_and_another_data_set_in_the_same_place_are_errors(tmp_path, monkeypatch):
    with sole_writer(tmp_path / "c", in_a_run=True):
        said = error_of(train, "squares", tmp_path / "c", settings=SMALL)
    assert "c is being written by another salgen process: wait" in said
    train("squares", tmp_path / "c", settings=SMALL)
    monkeypatch.setattr(training, "open_dataset", lambda *given: Squares(*given, fingerprint="0" * 64))
    assert "dataset fingerprint" in error_of(train, "squares", tmp_path / "c", settings=SMALL)


def test_faults_of_the_data_and_a_loss_that_is_not_finite(tmp_path, monkeypatch):
    settings = SMALL | {"optimiser": "sgd", "learning_rate": 1e30, "batch_norm": False, "schedule": "constant"}
    message = error_of(train, "squares", tmp_path / "c", settings=settings)
    assert "not finite in epoch 1" in message
    assert "lower the learning_rate" in message
    assert not (tmp_path / "c").exists()
    for sizes, missing in (({"train": 8, "test": 8}, "val"), ({"test": 8}, "train")):
        monkeypatch.setattr(Squares, "sizes", sizes)
        assert f"has no split {missing!r}" in error_of(train, "squares", tmp_path / "d", settings=SMALL)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"settings": {"learning_rat": 1}}, "did you mean 'learning_rate'"),
        ({"settings": {"width": "4"}}, "did you mean 'widths'"),
        ({"settings": {"epochs": 0}}, "training: epochs = 0: must be at least 1"),
        ({"settings": {"epochs": "many"}}, "training: epochs = 'many' is not of type int"),
        ({"settings": {"max_memory_gb": 1e-9}}, "may be used on cpu: set max_memory_gb higher"),
        ({"scale": "ful"}, "did you mean 'full'"),
        ({"model": "lesion-cn"}, "did you mean 'lesion-cnn'"),
        ({"task": "labels"}, "did you mean 'label'"),
        ({"seed": 2**63}, "must be 0 or more, in 64 bits"),
        ({}, "image size 8x8 is too small for lesion-cnn: each side must be at least 16"),
    ],
)
def test_faults_are_one_line(tmp_path, call, said):
    settings = call.get("settings", {})
    if "seed" in call or "max_memory_gb" in settings:
        call = call | {"settings": SMALL | settings}
    assert said in error_of(train, "squares", tmp_path / "c", **call)
    assert not (tmp_path / "c").exists()


def test_settings_override_the_scale_and_reach_model_or_training():
    model, settings = choose_settings("lesion-cnn", "full", {"widths": "8,16", "batch-size": "64", "stop_loss": "none"})
    assert (model.widths, model.batch_norm) == ((8, 16), False)
    assert (settings.batch_size, settings.stop_loss, settings.epochs) == (64, None, 125)


def keras_stopping_epoch(losses, patience, min_delta):
    """The epoch after which Keras' EarlyStopping(monitor="val_loss") stops, counted from 1, or None."""
    best, wait = np.inf, 0
    for number, loss in enumerate(losses, start=1):
        wait += 1
        if loss < best - min_delta:
            best, wait = loss, 0
        elif wait >= patience:
            return number
    return None


losses_strategy = st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=1, max_size=30)


@given(losses=losses_strategy, patience=st.integers(1, 5), min_delta=st.sampled_from([0.0, 5e-4, 0.1]))
def test_patience_is_that_of_keras(losses, patience, min_delta):
    settings = TrainingSettings(epochs=1000, patience=patience, min_delta=min_delta)
    history = [Epoch(0.0, loss, 0.5) for loss in losses]
    stopped = next((k for k in range(1, len(history) + 1) if is_over(history[:k], settings)), None)
    assert stopped == keras_stopping_epoch(losses, patience, min_delta)


def test_training_stops_by_loss_or_accuracy_and_takes_the_best_epoch():
    settings = TrainingSettings(epochs=10, stop_loss=0.05)
    assert not is_over([Epoch(0.0, 0.05, 1.0)], settings)
    assert is_over([Epoch(0.0, 0.3, 1.0), Epoch(0.0, 0.049, 1.0)], settings)
    assert not is_over([Epoch(0.0, 0.3, 1.0)] * 9, settings)
    assert is_over([Epoch(0.0, 0.3, 1.0)] * 10, settings)
    assert not is_over([], settings)
    chosen = TrainingSettings(stop_accuracy=0.9, epochs=10)
    epochs = [Epoch(1.0, 1.0, accuracy) for accuracy in (0.95, 0.8, 0.9, 0.9)]
    assert [is_over(epochs[:count], chosen) for count in range(1, 5)] == [False, False, False, True]
    history = [Epoch(0, 0.1, 0.8), Epoch(0, 0.4, 0.9), Epoch(0, 0.3, 0.9), Epoch(0, 0.3, 0.9), Epoch(0, 0.2, 0.8)]
    assert best_epoch(history) == 2
    assert best_epoch(history[:2]) == 1


def test_an_epoch_is_the_plain_loop_over_shuffled_batches():
    plugin, settings = choose_settings(
        "lesion-cnn", "full", {"widths": "3", "hidden": 4, "batch_size": 8, "learning_rate": 0.05, "weight_decay": 0.01}
    )
    data = Squares("squares", "train")
    network = plugin.build(1, 2, (8, 8))
    expected = {name: value.clone() for name, value in network.named_parameters()}
    order = torch.randperm(44)
    momenta = {name: torch.zeros_like(value) for name, value in expected.items()}
    losses = []
    for step in range(5):
        chosen = order[8 * step : 8 * step + 8].numpy()
        variables = {name: value.detach().requires_grad_() for name, value in expected.items()}
        images = torch.from_numpy(data.pixels[chosen]).float() / 255
        logits = torch.func.functional_call(network, variables, (images,))
        loss = -logits.log_softmax(1)[torch.arange(8), torch.from_numpy(data.labels[chosen])].mean()
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, list(variables.values()))
        for (name, value), gradient in zip(expected.items(), gradients, strict=True):
            momenta[name] = 0.9 * momenta[name] + gradient + 0.01 * value
            expected[name] = value - 0.05 * momenta[name]
    learner = Trainer.prepare(Fabric(accelerator="cpu", devices=1), network, settings, 44)
    split = DeviceSplit(torch.from_numpy(data.pixels), *[torch.from_numpy(data.labels)] * 2)
    counted = []
    loss = learner.epoch(split, order, counted.append)
    assert loss == pytest.approx(np.mean(losses), rel=1e-5)
    assert counted == [8] * 5
    for name, value in network.named_parameters():
        torch.testing.assert_close(value.detach(), expected[name])


def test_one_cycle_rises_to_the_learning_rate_and_falls_to_nothing():
    plugin, settings = choose_settings("lesion-cnn", "small", SMALL)
    learner = Trainer.prepare(Fabric(accelerator="cpu", devices=1), plugin.build(1, 2, (8, 8)), settings, 44)
    data = Squares("squares", "train")
    split = DeviceSplit(torch.from_numpy(data.pixels), *[torch.from_numpy(data.labels)] * 2)
    rates = [learner.schedule.get_last_lr()[0]]
    for _ in range(3):
        learner.epoch(split, torch.arange(44), lambda _: rates.append(learner.schedule.get_last_lr()[0]))
    rates.pop()  # would be the next step's
    assert len(rates) == 15
    assert max(rates) == pytest.approx(0.01, rel=0.05)
    assert rates[-1] < 1e-5 < rates[0] < max(rates)


@given(images=st.integers(1, 1000), batch_size=st.integers(1, 200))
def test_batches_are_whole_and_as_many_as_fit(images, batch_size):
    size, steps = batching(images, batch_size)
    assert size == min(images, batch_size)
    assert size * steps <= images < size * steps + size


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_batches_are_pictures_in_0_to_1_in_the_order_asked_for(kind):
    top = np.iinfo(kind).max
    pixels = np.random.default_rng(0).integers(0, top, (6, 2, 3, 4), dtype=kind, endpoint=True)
    pixels[0, 0, 0, :2] = 0, top
    split = DeviceSplit(torch.from_numpy(pixels), torch.arange(6), torch.arange(6))
    images, labels = split.batch(torch.tensor([4, 0]))
    assert images.dtype == torch.float32
    np.testing.assert_allclose(images.numpy(), pixels[[4, 0]] / top, rtol=1e-6)
    assert images.min() == 0.0
    assert images.max() == 1.0
    assert labels.tolist() == [4, 0]


def test_memory_limit_counts_bytes_of_the_decoded_split():
    exact = 44 * 8 * 8 / 1e9
    cpu = torch.device("cpu")
    train_split = Squares("squares", "train")
    assert len(load_split(train_split, "label", cpu, exact * 1.0001)) == 44
    assert "0.00 GB decoded" in error_of(load_split, train_split, "label", cpu, exact * 0.999)


def with_dropout(setup):
    """The model of a setup with dropout before its dense layers, which has no weights of its own."""
    classifier = build_classifier(setup)
    classifier.network.flatten = nn.Sequential(nn.Flatten(), nn.Dropout(0.5))
    return classifier


def test_a_network_with_dropout_resumes_to_the_same_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "build_classifier", with_dropout)
    train("squares", tmp_path / "whole", settings=SMALL)
    train_until_stopped(2, "squares", tmp_path / "stopped", settings=SMALL)
    torch.rand(7)  # whatever else draws in between must not show
    train("squares", tmp_path / "stopped", settings=SMALL)
    assert weights_of(tmp_path / "stopped") == weights_of(tmp_path / "whole")


def test_training_and_validation_labels_are_permuted_and_nothing_else(tmp_path, monkeypatch):
    permuted = train("squares", tmp_path / "permuted", settings=QUICK | {"labels": "permuted"}, seed=3)
    read(monkeypatch, PermutedByHand)
    by_hand = train("squares", tmp_path / "by-hand", settings=QUICK, seed=3)
    assert (tmp_path / "permuted" / WEIGHTS).read_bytes() == (tmp_path / "by-hand" / WEIGHTS).read_bytes()
    assert permuted.card.history == by_hand.card.history
    assert permuted.card.test_correct == by_hand.card.test_correct
    assert [one.card.settings["labels"] for one in (permuted, by_hand)] == ["permuted", "true"]
