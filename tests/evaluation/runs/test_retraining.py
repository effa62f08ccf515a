"""Remove or keep and retrain, and F-Fidelity: the changed images, the rows, and that a stopped run goes on."""

import numpy as np
import pytest
from kept_runs import SETTINGS, scores
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.retraining import FAILED, FOLDER, Retraining
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.training.checkpoints import load_checkpoint
from salgen.evaluation.training.reliance_penalty import REPLACED
from salgen.registry import METRICS

HOW = {
    "methods": ["gradient"],
    "settings": SETTINGS,
    "metrics": [
        "roc-auc",
        "roar:fraction=0.25|1",
        "kar:fraction=0.5",
        "f-fidelity-plus:draws=3",
        "f-fidelity-minus:draws=3",
    ],
}


@pytest.fixture(scope="module")
def run(data):
    return evaluate(data, out=data.parent / "run", **HOW)


def test_every_image_has_a_row_once(run, data, monkeypatch):
    table = scores(run)
    found = table[table["metric"].str.startswith(("roar", "kar"))]
    assert set(found["metric"]) == {"roar:fraction=0.25", "roar:fraction=1", "kar"}
    fidelity = table[table["metric"].str.startswith("f-fidelity")]
    assert fidelity["metric"].nunique() == 2
    assert fidelity["value"].between(-1, 1).all()
    assert set(found["variant"]) == {"region:image"}
    for (_, _), part in found.groupby(["metric", "method"]):
        assert part["sample_id"].tolist() == [sample["id"] for sample in salgen.load(data)]
        assert set(part["value"]) <= {0.0, 1.0}
    blank = table[table["metric"] == "roar:fraction=1"]
    assert blank.groupby("method")["value"].mean().nunique() == 1
    assert blank["value"].mean() == 0.5  # one class for all of a balanced split
    left = [path.name for path in (run / FOLDER).iterdir()]
    assert left
    assert all(name.endswith("-model") for name in left)
    before = scores(run)

    monkeypatch.setattr("salgen.evaluation.runs.retraining.train_again", None)
    evaluate(data, out=run, **HOW)
    assert scores(run).equals(before)


def retraining_of(run, data):
    subject = EvaluatedModel.of(load_checkpoint(run / "lesion-cnn-seed0"))
    methods = select_methods(["gradient"]).named
    plan = Plan.of(salgen.load(data), Conventions(), [subject], methods, {})
    return Retraining(ModelRunner(plan, subject, run), "gradient")


@pytest.mark.parametrize(("name", "fraction"), [("roar", 0.25), ("kar", 0.25), ("roar", 0.0), ("kar", 1.0)])
def test_the_highest_pixels_are_removed_or_kept(run, data, tmp_path, name, fraction):
    """Pixel by pixel, from the maps that salgen.explain gives."""
    retraining = retraining_of(run, data)
    metric = METRICS.create(name, {"fraction": fraction})
    retraining._change("train", metric, tmp_path / "changed")
    changed, replaced = (np.load(tmp_path / "changed" / name) for name in ("train.npy", REPLACED))
    dataset = salgen.load(data, split="train")
    images = dataset.images()
    mean = np.rint(images.astype(float).mean())
    model = load_checkpoint(run / "lesion-cnn-seed0").classifier
    for index in (0, 7):
        sample = dataset[index]
        how = {"method": "gradient", "ids": [sample["id"]]}
        saliency = salgen.explain(model, sample["image"][None], sample["label"], **how).values[0].numpy()
        ordered = sorted(saliency.ravel().tolist(), reverse=True)
        count = round(fraction * saliency.size)
        for row in range(32):
            for column in range(32):
                high = count > 0 and saliency[row, column] >= ordered[count - 1]
                gone = high if name == "roar" else not high
                expected = mean if gone else images[index, 0, row, column]
                assert changed[index, 0, row, column] == expected
                assert replaced[index, 0, row, column] == gone


def test_a_map_that_is_not_finite_is_undefined_and_ranks_nothing(run, data, monkeypatch):
    retraining = retraining_of(run, data)
    (batch,) = retraining.runner.plan.dataset.batches(64, [0, 1, 2])
    explain = ModelRunner.explain

    def broken(*arguments):
        explained = explain(*arguments)
        explained["gradient"].values[1, 3, 4] = float("nan")
        return explained

    monkeypatch.setattr(ModelRunner, "explain", broken)
    ranks = retraining._ranks_of(batch)
    assert (ranks[1] == FAILED).all()
    for good in (0, 2):
        assert sorted(ranks[good].ravel().tolist()) == list(range(32 * 32))


def test_a_models_own_function_cannot_be_trained_again(data, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_models.py").write_text(
        "from torch import nn\n\n\ndef one():\n    return nn.Sequential(nn.Flatten(), nn.Linear(1024, 2))\n"
    )
    with pytest.raises(SalgenError, match=r"'roar:fraction=0.1' trains the model again: give a registered model"):
        evaluate(data, model="some_models:one", metrics=["roar"], out=tmp_path / "run")


@pytest.mark.parametrize(("name", "fraction"), [("plus", 0.25), ("minus", 0.25), ("plus", 0.05), ("minus", 0.95)])
def test_f_fidelity_is_how_much_less_often_the_new_model_is_right(run, data, monkeypatch, name, fraction):
    """Image by image, with a model in place of the trained one that is right while the brightest pixel is there."""
    retraining, asked = retraining_of(run, data), []

    class Trained:
        def predict(self, images, labels):
            asked.append(images)
            return np.where(images.max(axis=(1, 2, 3)) == brightest[: len(images)], labels, 1 - labels)

    dataset = salgen.load(data)
    images = [sample["image"] for sample in dataset]
    brightest = np.array([image.max() for image in images])
    monkeypatch.setattr(
        "salgen.evaluation.runs.retraining.train_again", lambda *_, missing: Trained() if missing == 0.1 else None
    )
    metric = METRICS.create(f"f-fidelity-{name}", {"fraction": fraction, "draws": 4})
    found, ranks = retraining._fidelity(metric), retraining._ranks("test")
    falls = np.zeros(len(images))
    for shown in asked[1:]:
        for number, (image, changed) in enumerate(zip(images, shown, strict=True)):
            gone = [place for place in np.ndindex(32, 32) if changed[0][place] != image[0][place]]
            explained = [place for place in np.ndindex(32, 32) if ranks[number][place] < round(fraction * 1024)]
            others = [place for place in np.ndindex(32, 32) if place not in set(explained)]
            candidates = explained if name == "plus" else others
            assert set(gone) <= set(candidates)
            assert len(gone) <= min(len(candidates) // 2, 102)
            assert len(gone) >= 0.9 * min(len(candidates) // 2, 102)  # some have the mean colour already
            assert all(changed[0][place] == pytest.approx(image.mean(), abs=1e-6) for place in gone)
            falls[number] += (changed.max() != brightest[number]) / 4
    np.testing.assert_allclose(found, falls)
    assert len(asked) == 5
