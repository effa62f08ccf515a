"""Training for reliance: the penalty and its gradient, the batches that are rendered, a shortcut that is unlearnt."""

from dataclasses import replace
import numpy as np
import pandas as pd
import pytest
import torch
from kept_runs import QUICK
from marked_lesions import registered  # noqa: F401, a fixture of all tests here
from stopped_training import train_until_stopped
import salgen
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.reliance.certificate_rule import TOLERATED
from salgen.evaluation.runs.certify import certify
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import EvaluatedModel, train_again
from salgen.evaluation.runs.given_models import is_designed
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.training.checkpoints import WEIGHTS
from salgen.evaluation.training.reliance_penalty import REPLACED, RedrawLoader, Redraws, reliance_penalty
from salgen.evaluation.training.trainer import Trainer
from salgen.evaluation.training.training import train
from salgen.evaluation.training.training_settings import TrainingSettings, choose_settings
from salgen.registry import GENERATORS, MODELS

SETTINGS = {"widths": "8,8,8", "hidden": 8, "epochs": 12, "batch_size": 16}
SHORT = {"widths": "4,4", "hidden": 4, "epochs": 3, "batch_size": 4, "reliance": 2.0}


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    out = tmp_path_factory.mktemp("reliance") / "marked"
    splits = {"train": 160, "val": 32, "test": 24}
    parameters = {**QUICK, "depth": 0.5, "variation": 0.0}
    return salgen.make("marked-lesions", out, splits=splits, parameters=parameters, workers=1)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    out = tmp_path_factory.mktemp("reliance") / "few"
    return salgen.make("perlin-lesions", out, splits={"train": 10, "val": 4, "test": 6}, parameters=QUICK, workers=1)


def slow_penalty(scores, twins):
    total = 0.0
    for score, of_twins in zip(scores, twins, strict=True):
        centre = sum(of_twins) / len(of_twins)
        total += np.log(1 + max((value - centre) ** 2 for value in of_twins) / ((score - centre) ** 2 + 1))
    return total / len(scores)


def test_the_penalty_is_its_formula_and_its_weight_rises_over_the_first_third():
    generator = torch.Generator().manual_seed(3)
    scores = torch.randn(5, generator=generator, dtype=torch.float64, requires_grad=True)
    twins = torch.randn(5, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    found = reliance_penalty(scores, twins)
    assert found.item() == pytest.approx(slow_penalty(scores.tolist(), twins.tolist()), rel=1e-12)
    assert torch.autograd.gradcheck(reliance_penalty, (scores, twins))
    assert reliance_penalty(torch.zeros(0), torch.zeros(0, 3)) == 0
    settings = TrainingSettings(epochs=6, reliance=2.0)
    assert [settings.reliance_weight(epoch) for epoch in range(6)] == [0, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("stored", [True, False])
def test_batches_are_what_the_generator_renders(few, stored):
    opened = Redraws.of(open_dataset(few))
    made = opened.generator
    positives = [i for i in range(10) if made.twin(made.recipe(0, "train", i)) is not None]
    negative = next(i for i in range(10) if i not in positives)
    loader = RedrawLoader(Redraws(made, 0, opened.twins if stored else ()), workers=2)
    next(loader.epoch(0, [[negative]] * 5))  # and no more of this epoch
    first, second = loader.epoch(3, [[positives[0], negative], [negative]])
    assert first.has_twin.tolist() == [True, False]
    assert first.images.shape == (2, 1, 32, 32)
    assert first.twins.shape == (1, 2, 1, 32, 32)
    assert second.twins.shape == (0, 2, 1, 32, 32)

    def unit(sample):
        return torch.from_numpy(sample.image.astype(np.float32) / np.float32(255)).permute(2, 0, 1)

    recipe = made.recipe(0, "train", positives[0])
    shown = made.redraw(recipe, 0, 3)
    assert torch.equal(first.images[0], unit(made.render(shown)))
    assert torch.equal(first.twins[0], torch.stack([unit(made.twin(one)) for one in (recipe, shown)]))
    assert torch.equal(second.images[0], first.images[1])


@pytest.fixture
def stand_ins(few, tmp_path):
    """Images of one colour on the right half, and the pixels that differ."""
    folder = tmp_path / "changed"
    folder.mkdir()
    for split in ("train", "val", "test"):
        images = open_dataset(few, split).images()
        images[..., 16:] = 77
        np.save(folder / f"{split}.npy", images)
    replaced = np.zeros((10, 1, 32, 32), dtype=bool)
    replaced[..., 16:] = True
    np.save(folder / REPLACED, replaced)
    return folder


@pytest.mark.parametrize("stored", [True, False])
def test_redraws_and_twins_of_changed_images_are_changed_in_the_same_pixels(few, stand_ins, stored):
    plain, changed = Redraws.of(open_dataset(few)), Redraws.of(open_dataset(few), stand_ins)
    if not stored:
        plain, changed = (replace(one, twins=()) for one in (plain, changed))
    wanted = (3, list(range(10)))
    before, after = plain[wanted], changed[wanted]
    assert 0 < len(after.twins) < 10
    assert torch.equal(before.has_twin, after.has_twin)
    for old, new in ((before.images, after.images), (before.twins, after.twins)):
        assert (new[..., 16:] == torch.tensor(77 / 255)).all()
        assert torch.equal(new[..., :16], old[..., :16])
        assert not torch.equal(new[..., 16:], old[..., 16:])


def test_a_model_of_changed_images_is_trained_for_reliance_as_the_first_one_and_a_second_one_plainly(
    few, stand_ins, tmp_path
):
    model = EvaluatedModel.of(train(few, tmp_path / "first", settings={**SHORT, "epochs": 1}))
    assert model.origin["settings"]["reliance"] == 2.0
    second = train_again(model, open_dataset(few), tmp_path / "permuted", labels="permuted")
    assert "reliance" not in second.origin["settings"]
    again = train_again(model, open_dataset(few), tmp_path / "again", images=stand_ins)
    settings = dict(again.origin["settings"])
    assert len(settings.pop("images")) == 3
    assert settings == model.origin["settings"]
    assert again.digest != model.digest


def slow_loss(logits, twin_logits, labels, classes, has_twin, weight):
    """The loss of a batch image by image, whose `labels` are (n,) or (n, K), and whose twins lack their `classes`."""
    several, count = labels.ndim == 2, logits.shape[1]

    def entropy(row, wanted):
        if several:
            present = 1 / (1 + np.exp(-row))
            return -np.mean(wanted * np.log(present) + (1 - wanted) * np.log(1 - present))
        return -np.sum(wanted * (row - np.log(np.exp(row).sum())))

    entropies, scores, twin_scores, left = [], [], [], iter(twin_logits)
    for row, label, taken, paired in zip(logits, labels, classes, has_twin, strict=True):
        wanted = label if several else np.eye(count)[label]
        entropies.append(entropy(row, wanted))
        if paired:
            twins = next(left)
            without = wanted * (np.arange(count) != taken)
            if not several:
                without = np.eye(2)[1 - label] if count == 2 else np.full(count, 1 / count)
            entropies += [entropy(twin, without) for twin in twins]
            scores.append(row[taken])
            twin_scores.append(twins[:, taken])
    assert next(left, None) is None
    share = weight / count if several else weight
    return np.mean(entropies) + (share * slow_penalty(scores, twin_scores) if scores else 0)


DEEPER = ("efficientnet-lite1", "efficientnet-lite2", "resnext50", "vgg16")  # than one of the same kind of layers
TRAINED = [
    pytest.param("perlin-lesions", name, marks=[pytest.mark.torture] * (name in DEEPER))
    for name in MODELS.names()
    if not is_designed(name)
]


@pytest.mark.parametrize(("name", "model"), [("bam", "scnn"), ("multi-objects", "scnn"), *TRAINED])
def test_the_loss_of_a_batch_is_that_of_images_and_twins_and_the_penalty(name, model, tmp_path, monkeypatch):
    """With ten classes of which an image shows one or several, and with two and every network."""
    splits, parameters = {"train": 10, "val": 4, "test": 4}, GENERATORS.load(name).quick
    data = salgen.make(name, tmp_path / "data", splits=splits, parameters=parameters, workers=1)
    pairs = []

    class Watched(Trainer):
        def _reliance_loss(self, labels, classes, shown, weight):
            with torch.random.fork_rng():  # of dropout
                logits = self.network(torch.cat([shown.images, shown.twins.flatten(0, 1)])).detach().double().numpy()
            own, twins = logits[: len(labels)], logits[len(labels) :].reshape(*shown.twins.shape[:2], -1)
            given = (part.numpy() for part in (labels, classes, shown.has_twin))
            found = super()._reliance_loss(labels, classes, shown, weight)
            pairs.append((weight, found.item(), slow_loss(own, twins, *given, weight)))
            return found

    monkeypatch.setattr("salgen.evaluation.training.training.Trainer", Watched)
    settings = {**MODELS.load(model).quick, "epochs": 2, "batch_size": 5, "reliance": 2.0}
    train(data, tmp_path / "model", model=model, settings=settings)
    weights, found, expected = np.array(pairs).T
    assert weights.tolist() == [0, 0, 2, 2]
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("reliance", "most"), [(2.0, 1e-3), (0.0, 1e9)])
def test_the_gradient_of_a_step_has_a_largest_norm(few, tmp_path, monkeypatch, reliance, most):
    norms, step = [], torch.optim.AdamW.step

    def watched(self, closure=None):
        weights = [weight for group in self.param_groups for weight in group["params"]]
        norms.append(float(torch.linalg.vector_norm(torch.stack([weight.grad.norm() for weight in weights]))))
        return step(self, closure)

    monkeypatch.setattr(torch.optim.AdamW, "step", watched)
    monkeypatch.setattr("salgen.evaluation.training.trainer.GRADIENT_NORM", 1e-3)
    train(few, tmp_path / "model", settings={**SHORT, "reliance": reliance})
    assert 1e-3 * (1 - 1e-4) < max(norms) < most * (1 + 1e-4)


@pytest.mark.parametrize("scale", ["demo", "small", "full"])
def test_epochs_are_twice_as_many_unless_stated(scale):
    (_, plain), (_, reliant) = (choose_settings("scnn", scale, {"reliance": weight}) for weight in (0.0, 2.0))
    assert reliant.epochs == 2 * plain.epochs
    assert choose_settings("scnn", "demo", {"reliance": 2.0, "epochs": 5})[1].epochs == 5


def test_a_stopped_training_ends_with_the_same_weights(few, tmp_path):
    train(few, tmp_path / "whole", settings=SHORT)
    train_until_stopped(3, few, tmp_path / "stopped", settings=SHORT)
    train(few, tmp_path / "stopped", settings=SHORT)
    assert (tmp_path / "stopped" / WEIGHTS).read_bytes() == (tmp_path / "whole" / WEIGHTS).read_bytes()


def test_a_shortcut_is_unlearnt(marked, tmp_path):
    """The background of one class carries a mark: plainly trained the model reads that, and no sample is certified."""
    shares = {}
    for reliance in (0.0, 2.0):
        trained = train(marked, tmp_path / f"{reliance}", settings={**SETTINGS, "reliance": reliance})
        assert trained.card.test_accuracy == 1
        model, run = EvaluatedModel.of(trained), tmp_path / f"run{reliance}"
        certify([ModelRunner(Plan.of(open_dataset(marked), Conventions(), [model], {}, {}), model, run)])
        table = pd.read_parquet(run / "certificates.parquet").dropna(subset="certified")
        unmoved = (table[["held_effect", "background_effect"]] <= TOLERATED).all(axis=1)
        shares[reliance] = float(table.certified.mean()), float(unmoved.mean())
    assert shares[0.0] == (0, 0)
    assert shares[2.0][0] > 0.3  # the penalty asks nothing of steps
    assert shares[2.0][1] >= 0.9


@pytest.mark.parametrize("other", [{"rotation": 5}, {"flips": True}, {"labels": "permuted"}])
def test_what_it_does_not_go_with_is_said_before_any_work(few, tmp_path, other):
    with pytest.raises(SalgenError, match="goes without rotation, flips, missing pixels and permuted labels"):
        train(few, tmp_path / "c", settings={"reliance": 1, **other})
    assert not (tmp_path / "c").exists()


def test_only_the_first_task_s_cause_is_redrawn(tmp_path):
    parameters = GENERATORS.load("bam").quick
    data = salgen.make("bam", tmp_path / "bam", splits={"train": 4, "val": 4, "test": 4}, parameters=parameters)
    with pytest.raises(SalgenError, match="training with reliance is about the task 'object'"):
        train(data, tmp_path / "c", model="scnn", task="scene", settings={"reliance": 1})
