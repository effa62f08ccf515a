"""Metrics of two maps in a run: the twin's, a second model's, and one's trained on permuted labels."""

import numpy as np
import pyarrow.parquet as pq
import pytest

import salgen
from salgen.errors import SalgenError
from salgen.evaluation.checkpoints import load_checkpoint, read_card
from salgen.evaluation.running import PERMUTED, evaluate

QUICK = {"image_size": (32, 32), "diameter": 6, "slices": 8}
SETTINGS = {"epochs": 2, "widths": "4,4,4", "hidden": 8}
METRICS = ["g-cf", "mcs", "mcr", "idr", "idr-bam", "iir", "label-randomization:similarity=ssim"]


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    splits = {"train": 64, "val": 16, "test": 20}
    return salgen.make("perlin-lesions", tmp_path_factory.mktemp("pairs") / "data", splits=splits, parameters=QUICK)


@pytest.fixture(scope="session")
def second(data):
    return salgen.train(data, data.parent / "second", settings=SETTINGS, seed=5)


@pytest.fixture(scope="session")
def run(data, second):
    how = {"methods": ["gradient"], "settings": SETTINGS, "metrics": METRICS}
    return evaluate(data, paired_model=second.path, out=data.parent / "run", **how)


def table(run, metric, method="gradient"):
    rows = pq.read_table(run / "scores.parquet").to_pandas()
    rows = rows[(rows["metric"] == metric) & (rows["method"] == method) & (rows["variant"] == "region:image")]
    return rows.set_index("sample_id")


def maps_of(model, samples, images, ids):
    labels = [sample["label"] for sample in samples]
    return salgen.explain(model, np.stack(images), np.array(labels), method="gradient", ids=ids).values.numpy()


@pytest.mark.parametrize("metric", METRICS)
def test_values_are_those_of_explain_and_score(run, data, second, metric):
    """Each model explained by itself, and what is right worked out by hand."""
    first = load_checkpoint(run / "lesion-cnn-seed0").classifier
    permuted = load_checkpoint(run / PERMUTED / "lesion-cnn-seed0").classifier
    samples = [sample for sample in salgen.open(data) if sample["label"] == 1]
    ids, images = [sample["id"] for sample in samples], [sample["image"] for sample in samples]
    twins = [sample["twin"] for sample in samples]
    own = maps_of(first, samples, images, ids)
    others = {
        "twin_maps": (maps_of(first, samples, twins, ids), right(first, twins)),
        "paired_maps": (maps_of(second.classifier, samples, images, ids), right(second.classifier, images)),
        "shuffled_maps": (maps_of(permuted, samples, images, ids), [True] * len(ids)),
    }
    needed = {"mcs": "paired_maps", "mcr": "paired_maps", "g-cf": None}.get(metric, "twin_maps")
    needed = "shuffled_maps" if metric.startswith("label") else needed
    correct = np.array(right(first, images))
    given = {}
    if needed is not None:
        given = {needed: others[needed][0]}
        correct &= np.array(others[needed][1])
    masks = np.stack([sample["mask"] for sample in samples])
    expected = salgen.score(own, masks, metric, correct=correct, **given)
    found = table(run, metric).loc[ids]
    assert np.allclose(found["value"], expected[metric], rtol=1e-5, atol=1e-7, equal_nan=True)
    assert found["reason"].tolist() == expected.reasons[metric]


def right(model, images):
    import torch

    with torch.inference_mode():
        return (model(torch.from_numpy(np.stack(images))).argmax(dim=1) == 1).tolist()


def test_the_model_of_permuted_labels_is_trained_as_the_first(run):
    first, permuted = read_card(run / "lesion-cnn-seed0"), read_card(run / PERMUTED / "lesion-cnn-seed0")
    assert permuted.settings == {**first.settings, "labels": "permuted"}
    assert permuted.seed == first.seed
    assert permuted.parameters == first.parameters


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["mcs"], "contrasts two models: give the second one"),
        (["all", "mcr"], "contrasts two models: give the second one"),
    ],
)
def test_a_second_model_must_be_given(data, tmp_path, metrics, message):
    with pytest.raises(SalgenError, match=message):
        evaluate(data, metrics=metrics, out=tmp_path / "run", settings=SETTINGS)


def test_twins_must_be_stored(data, tmp_path):
    bare = salgen.make("perlin-lesions", tmp_path / "bare", splits={"test": 8}, parameters=QUICK, twins=False)
    with pytest.raises(SalgenError, match=r"'idr' compares images with their twins: .* holds none"):
        evaluate(bare, metrics=["idr"], out=tmp_path / "run", settings=SETTINGS)
