"""The public Python API, used as the design writes it."""

import numpy as np
import pytest
import torch
from torch import nn

import salgen


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    parameters = {"image_size": (32, 32), "diameter": 6, "slices": 8}
    place = tmp_path_factory.mktemp("api") / "perlin"
    return salgen.make("perlin-lesions", place, splits={"train": 8, "val": 4, "test": 8}, seed=0, parameters=parameters)


def test_open_gives_a_map_dataset_that_torch_can_load(folder):
    ds = salgen.open(folder, split="test")
    item = ds[1]
    assert item["image"].shape == (1, 32, 32)
    assert item["image"].dtype == np.float32
    assert item["mask"].dtype == bool
    loader = torch.utils.data.DataLoader(
        ds, batch_size=4, collate_fn=lambda items: torch.from_numpy(np.stack([item["image"] for item in items]))
    )
    assert next(iter(loader)).shape == (4, 1, 32, 32)


def test_generator_samples_without_disk():
    generator = salgen.generator("perlin-lesions", image_size=(140, 192), slices=8)
    pair = [generator.sample(seed=0, split="train", index=index) for index in (16, 17)]
    sample = next(item for item in pair if item.labels["label"] == 1)
    twin = generator.sample(seed=0, split="train", index=sample.recipe.index, omit=("lesions",))
    assert sample.image.shape == (140, 192, 1)
    assert np.array_equal(sample.image[~sample.regions["lesions"]], twin.image[~sample.regions["lesions"]])


def test_what_is_made_is_what_a_generator_samples(folder):
    ds = salgen.open(folder, split="train")
    generator = salgen.generator("perlin-lesions", image_size=(32, 32), diameter=6, slices=8)
    for index in (0, 5):
        sample = generator.sample(seed=0, split="train", index=index)
        assert np.array_equal(np.rint(ds[index]["image"] * 255).transpose(1, 2, 0), sample.image)
        assert np.array_equal(ds[index]["mask"], sample.regions["lesions"])


def test_explain_and_score_work_on_anybodys_model_and_arrays():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    images, targets = torch.rand(5, 3, 16, 12), [0, 1, 0, 1, 0]
    maps = salgen.explain(model, images, targets, method="lrp-alpha-beta", reduce="native", layer=None, alpha=2, beta=1)
    raw = salgen.explain(model, images, targets, method="gradient", reduce=None)
    masks = np.random.default_rng(0).random((5, 16, 12)) < 0.3
    scores = salgen.score(
        maps, masks, ["roc-auc", "prec99", "m-gt"], valid=None, twins=None, model=None, images=None, targets=None
    )
    assert maps.values.shape == (5, 16, 12)
    assert raw.values.shape == (5, 3, 16, 12)
    assert raw.values.min() < 0
    assert list(scores) == ["roc-auc", "prec99", "m-gt"]
    assert scores["roc-auc"].shape == (5,)
    assert scores["roc-auc"].dtype == np.float64
    assert len(scores.reasons["prec99"]) == 5


def test_evaluate_returns_the_run(folder, tmp_path):
    run = salgen.evaluate(
        folder,
        methods=["gradient", "lrp-alpha-beta:alpha=1,beta=0"],
        metrics=["roc-auc"],
        settings={"epochs": 1, "widths": (4,), "hidden": 4},
        out=tmp_path / "run",
    )
    assert (run / "scores.parquet").exists()
    assert salgen.report([run]).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'explane'"):
        _ = salgen.explane
