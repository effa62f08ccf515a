"""Models that the user brings: ``--model package.module:function``."""

import importlib
import json
import shutil
import sys
from unittest.mock import ANY
import numpy as np
import pytest
from own_modules import write_modules
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.runs.evaluated_models import load_model, resolve_models
from salgen.evaluation.runs.given_models import given_model
from salgen.evaluation.runs.running import evaluate

MODULE = """
import torch
from torch import nn
from salgen.evaluation.models.classifier import Classifier

not_a_function = 3

def good(seed=0):
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    return Classifier(network, cam_layer="1")

def good_too():
    return good(1)

def raises():
    raise KeyError("weights")

def returns_text():
    return "model"

def other_size():
    return nn.Sequential(nn.Flatten(), nn.Linear(7, 2))

def no_logits():
    return nn.Sequential(nn.Flatten(2), nn.LSTM(1024, 2))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return write_modules(tmp_path, monkeypatch, own_models=MODULE)


def test_a_users_model_is_evaluated_as_it_is(data, folder):
    run = evaluate(data, model="own_models:good", methods=["cam", "gradient"], metrics=["roc-auc"])
    assert run.name == "lesions-own_models-good"
    record = json.loads((run / "run.json").read_text())
    (model,) = record["models"]
    assert (model["name"], model["trained_on"]) == ("own_models:good", None)
    assert any("given with its weights" in note for note in record["notes"])
    assert {"cam", "gradient", "sobel"} <= {method["call"] for method in record["methods"]}
    assert "own_models:good" in salgen.report([run]).read_text(encoding="utf-8")
    assert str(folder) not in sys.path


def test_its_weights_and_modules_are_its_identity(data, folder):
    names = ("own_models:good", "own_models:good", "own_models:good_too")
    one, same, other = (load_model(salgen.load(data), given_model(name), folder) for name in names)
    assert isinstance(one.classifier, Classifier)
    assert not one.classifier.training
    assert one.digest == same.digest != other.digest
    first = load_model(salgen.load(data), given_model("own_models:good"), folder)
    (folder / "own_models.py").write_text(MODULE.replace("nn.ReLU()", "nn.Tanh()"))
    sys.modules.pop("own_models")
    importlib.invalidate_caches()
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)  # compiled within the same second it looks unchanged
    assert load_model(salgen.load(data), given_model("own_models:good"), folder).digest != first.digest


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("no_such_module:good", "cannot be imported: ModuleNotFoundError"),
        ("own_models:not_a_function", "calling it failed: TypeError: 'int' object is not callable"),
        ("own_models:raises", "calling it failed: KeyError: 'weights'"),
        ("own_models:returns_text", "returned str, but must return a torch.nn.Module"),
        ("own_models:other_size", r"fails on an image \(1, 1, 32, 32\)"),
        ("own_models:no_logits", "the model returns tuple of .*: it must return logits"),
        ("own_models:good", "trained already"),
    ],
)
def test_what_is_wrong_with_it_is_one_line_before_any_work(model, says, data, folder):
    with pytest.raises(SalgenError, match=says):
        evaluate(data, model=model, n_trainings=2, out=folder / "run")
    assert not (folder / "run").exists()


def test_patterns_are_fitted_once_and_their_units_counted(data, folder, monkeypatch):
    how = {"model": "own_models:good", "metrics": ["roc-auc"], "out": folder / "run"}
    run = evaluate(data, methods=["pattern-net"], **how)
    (patterns,) = run.glob("patterns-*.safetensors")
    assert json.loads((run / "run.json").read_text())["models"][0]["patterns"] == {"units": 6, "degenerate": ANY}
    monkeypatch.setattr("salgen.evaluation.runs.model_runner.fit_patterns", None)  # it is not fitted again
    evaluate(data, methods=["pattern-net", "pattern-attribution"], **how)
    patterns.write_bytes(b"something else")
    with pytest.raises(SalgenError, match="holds no patterns"):
        evaluate(data, methods=["pattern-net"], **how)


def test_references_are_training_images(data, folder, monkeypatch):
    monkeypatch.setattr("salgen.evaluation.runs.model_runner.REFERENCES", 3)
    seen, attribute = [], "salgen.evaluation.methods.path_gradients.ExpectedGradients.attribute"
    monkeypatch.setattr(attribute, lambda _, context: seen.append(context.references) or context.inputs)
    given = {"model": "own_models:good", "metrics": ["roc-auc"], "out": folder / "run", "limit": 2}
    evaluate(data, methods=["expected-gradients:n=1"], **given)
    images = [sample["image"] for sample in salgen.load(data, "train")]
    assert len(seen[0]) == 3
    for reference in seen[0].numpy():
        assert any(np.array_equal(reference, image) for image in images)


def test_without_training_images_there_are_no_patterns_and_no_trainings(data, folder, tmp_path, monkeypatch):
    """As with imported data that has a test split only: an error by name, left out of all."""
    dataset = salgen.load(data, "test")
    why = "pattern-net fits patterns to the split 'train', which lesions does not have"
    monkeypatch.delitem(dataset.spec.splits, "train")
    monkeypatch.setattr("salgen.evaluation.runs.running.open_dataset", lambda *_: dataset)
    given = {"model": "own_models:good", "metrics": ["roc-auc"], "limit": 2, "out": folder / "run"}
    with pytest.raises(SalgenError, match=why):
        evaluate(data, methods=["pattern-net"], **given)
    run = salgen.evaluate(data, methods=["pattern-net", "expected-gradients", "gradient"], **given)
    assert (run.left_out["pattern-net"], "gradient" in run.means.index) == (why, True)
    assert "compares with images of the split 'train', which lesions" in run.left_out["expected-gradients:n=50"]
    with pytest.raises(SalgenError, match=r"has no training images for scnn: give a trained model \(model=, --model"):
        resolve_models(dataset, "scnn", None, None, tmp_path, scale="demo", settings=None, n_trainings=1, reliance=None)
