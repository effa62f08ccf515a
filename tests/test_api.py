"""The public Python API, used as the design writes it."""

import inspect
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from types import SimpleNamespace
import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.methods.gradient import Gradient


@dataclass(frozen=True)
class Broken(Gradient):
    name = "broken"

    def attribute(self, context):
        return 1 / 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    parameters = {"image_size": (32, 32), "diameter": 6, "slices": 8}
    place = tmp_path_factory.mktemp("api") / "perlin"
    return salgen.make("perlin-lesions", place, splits={"train": 8, "val": 4, "test": 8}, seed=0, parameters=parameters)


def test_open_gives_a_map_dataset_that_torch_can_load(folder):
    ds = salgen.load(folder, split="test")
    item = ds[1]
    assert item["image"].shape == (1, 32, 32)
    assert item["image"].dtype == np.float32
    assert item["mask"].dtype == bool
    batch = next(iter(torch.utils.data.DataLoader(ds, batch_size=4, collate_fn=salgen.collate)))
    assert batch["image"].shape == (4, 1, 32, 32)
    assert torch.equal(batch["label"], torch.tensor([ds[index]["label"] for index in range(4)]))
    assert torch.equal(batch["regions"]["brain"][1], torch.from_numpy(item["regions"]["brain"]))
    assert batch["mask"].dtype == torch.bool
    assert [twin is None for twin in batch["twin"]] == [ds[index]["twin"] is None for index in range(4)]


def test_maps_are_arrays_and_scores_a_table():
    maps = salgen.explain(None, torch.rand(5, 3, 16, 12), method="sobel")
    array = np.asarray(maps)
    assert array.dtype == np.float32
    assert np.array_equal(array, maps.values.numpy())
    assert np.asarray(maps, dtype=np.float64).dtype == np.float64
    scores = salgen.score(array, np.eye(16, 12, dtype=bool)[None].repeat(5, 0), ["roc-auc", "m-gt"])
    table = pd.DataFrame(scores)
    assert table.shape == (5, 2)
    assert table["m-gt"].to_numpy() == pytest.approx(scores["m-gt"])


def test_what_fails_in_a_method_names_it():
    network = nn.Sequential(nn.Flatten(), nn.Linear(48, 2))
    with pytest.raises(SalgenError, match=r"^method 'broken' failed: ZeroDivisionError: division by zero$"):
        salgen.explain(network, torch.rand(3, 3, 4, 4), 0, method=Broken())


def test_a_trained_checkpoint_is_not_a_model_but_holds_one():
    with pytest.raises(
        SalgenError, match=r"model is SimpleNamespace: must be a torch.nn.Module, such as its .classifier"
    ):
        salgen.explain(SimpleNamespace(classifier=nn.Identity()), torch.rand(1, 1, 4, 4), method="gradient")


@pytest.mark.parametrize("softmax", [True, False])
def test_probabilities_in_place_of_logits_are_said(softmax):
    class Mean(nn.Module):
        def forward(self, logits):
            return (logits.softmax(dim=1) + (2 * logits).softmax(dim=1)) / 2

    network = nn.Sequential(nn.Flatten(), nn.Linear(48, 2), *([Mean()] if softmax else []))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        salgen.explain(network, torch.rand(3, 3, 4, 4), 0, method="gradient")
    assert any("sum to 1, but no softmax is found" in str(warning.message) for warning in caught) == softmax


def test_attributes_are_the_version_of_the_distribution_and_no_unknown_one():
    assert salgen.__version__ == version("salgen")
    assert "__version__" in dir(salgen)
    with pytest.raises(AttributeError, match="no attribute 'explane'"):
        _ = salgen.explane


@pytest.mark.parametrize("name", sorted({*salgen.__all__} - {"Run", "SalgenError", "bench", "explain", "generator"}))
def test_every_option_is_a_named_parameter(name):
    parameters = inspect.signature(getattr(salgen, name)).parameters.values()
    assert not [one for one in parameters if one.kind is one.VAR_KEYWORD or one.name in ("command", "seeds", "licence")]


def test_evaluate_takes_a_dataset_with_its_split(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"model": nn.Sequential(nn.Flatten(), nn.Linear(1024, 2)), "methods": ["sobel"], "metrics": ["roc-auc"]}
    run = salgen.evaluate(salgen.load(folder, split="val"), **given)
    assert (run.record.dataset.split, run.record.command) == ("val", None)
    assert "split-val" in run.path.name
    assert isinstance(inspect.signature(salgen.evaluate).return_annotation, type)
    assert salgen.open is salgen.load


def test_names_are_listed_by_a_glob():
    assert salgen.list_methods("grad-cam*") == ["grad-cam", "grad-cam++"]
    assert salgen.list_metrics("iou") == ["iou"]
    assert salgen.list_generators("mri*") == ["mri-lesions"]
    assert salgen.list_importers("pet*") == ["pet-xai"]
    assert salgen.list_models("resnet??") == ["resnet18", "resnet50"]
