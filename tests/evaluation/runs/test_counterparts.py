"""Metrics of two maps in a run: the twin's, a second model's, and one's trained on permuted labels."""

from contextlib import chdir
from importlib import import_module
import numpy as np
import pytest
import torch
from bending_models import write_models
from kept_runs import QUICK, make_data, scores
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.runs.evaluated_models import PERMUTED
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.scoring.scoring import metric_inputs_of
from salgen.evaluation.training.checkpoints import load_checkpoint, read_card

SETTINGS = {"epochs": 2, "widths": "4,4,4", "hidden": 8}
CONTRAST = ["g-cf", "mcs", "mcr", "idr", "idr-bam", "g-cf:of=paired", "idr:of=paired", "idr-bam:of=paired"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_data(tmp_path_factory.mktemp("pairs"), name="data", train=64, val=16, test=20)


@pytest.fixture(scope="module")
def positives(data):
    return [sample for sample in salgen.load(data) if sample["label"] == 1]


@pytest.fixture(scope="module")
def models(data, positives):
    """Two functions that make models, each wrong on some of the images, but not on the same."""
    levels = sorted(float(sample["image"].mean()) for sample in positives)
    return write_models(data.parent / "two_models.py", (1, levels[3]), (2, levels[5] - 1e-4), scale=1 / 3)


@pytest.fixture(scope="module")
def contrast(data, models):
    with chdir(data.parent):
        how = {"methods": ["gradient"], "metrics": CONTRAST, "out": data.parent / "contrast"}
        yield evaluate(data, model=models[0], paired_model=models[1], **how)


@pytest.fixture(scope="module")
def permuted(data):
    how = {"methods": ["gradient"], "settings": SETTINGS, "metrics": ["label-randomization:similarity=ssim"]}
    return evaluate(data, out=data.parent / "permuted", **how)


def found_for(run, metric, ids):
    rows = scores(run)
    rows = rows[(rows["metric"] == metric) & (rows["method"] == "gradient") & (rows["variant"] == "region:image")]
    return rows.set_index("sample_id").loc[ids]


def maps_of(model, samples, images):
    labels, ids = np.array([sample["label"] for sample in samples]), [sample["id"] for sample in samples]
    return salgen.explain(model, np.stack(images), labels, method="gradient", ids=ids).values.numpy()


def right(model, images):
    with torch.inference_mode():
        return (model(torch.from_numpy(np.stack(images))).argmax(dim=1) == 1).numpy()


@pytest.mark.parametrize("metric", CONTRAST)
def test_values_are_those_of_explain_and_score(contrast, data, positives, metric):
    """Each model explained by itself, and what counts as right worked out by hand."""
    module, (name, _, of) = import_module("two_models"), metric.partition(":")
    first, second = module.first().eval(), module.second().eval()
    model = second if of else first
    images, twins = ([sample[what] for sample in positives] for what in ("image", "twin"))
    correct, given = right(model, images), {}
    if name in ("mcs", "mcr"):
        given, correct = {"paired_maps": maps_of(second, positives, images)}, correct & right(second, images)
    elif name != "g-cf":
        given, correct = {"twin_maps": maps_of(model, positives, twins)}, correct & right(model, twins)
    masks = np.stack([sample["mask"] for sample in positives])
    expected = salgen.score(maps_of(model, positives, images), masks, name, correct=correct, **given)
    assert 2 <= np.isfinite(expected[name]).sum() < len(positives)
    found = found_for(contrast, metric, [sample["id"] for sample in positives])
    assert np.allclose(found["value"], expected[name], rtol=1e-5, atol=1e-7, equal_nan=True)
    assert found["reason"].tolist() == expected.reasons[name]


def test_maps_are_compared_with_those_of_a_model_trained_alike_on_permuted_labels(permuted, positives):
    models = [load_checkpoint(path / "lesion-cnn-seed0").classifier for path in (permuted, permuted / PERMUTED)]
    images = [sample["image"] for sample in positives]
    own, other = (maps_of(model, positives, images) for model in models)
    metric = "label-randomization:similarity=ssim"
    expected = salgen.score(own, None, metric, shuffled_maps=other)[metric]
    found = found_for(permuted, metric, [sample["id"] for sample in positives])
    assert np.allclose(found["value"], expected, rtol=1e-5, atol=1e-7)
    first, other = read_card(permuted / "lesion-cnn-seed0"), read_card(permuted / PERMUTED / "lesion-cnn-seed0")
    assert other.settings == {**first.settings, "labels": "permuted"}
    assert other.seed == first.seed
    assert other.parameters == first.parameters


def test_methods_that_are_fitted_have_no_parameter_randomisation(data, tmp_path, permuted):
    metric = "parameter-randomization:order=independent,similarity=spearman,layers=1"
    how = {"methods": ["pattern-net", "gradient"], "metrics": [metric]}
    run = evaluate(data, model=permuted / "lesion-cnn-seed0", out=tmp_path / "run", **how)
    rows = scores(run).set_index("method")
    assert set(rows.loc["pattern-net"]["reason"]) == {"fitted_method"}
    assert rows.loc["pattern-net"]["value_worst_case"].isna().all()
    assert rows.loc["gradient"]["value"].notna().all()


def test_a_call_asks_again_as_the_map_was_asked(data, permuted, positives):
    """Score, seed and names of the maps are those of what is explained again."""
    model = load_checkpoint(permuted / "lesion-cnn-seed0").classifier
    images, targets = np.stack([sample["image"] for sample in positives]), np.ones(len(positives), dtype=int)
    ids = [sample["id"] for sample in positives]
    cases = [
        ("gradient", {"score": "margin"}),
        ("gradient", {"reduce": "sum"}),
        ("rise:n=20", {"seed": 3}),
        ("rise:n=20", {"ids": ids}),
    ]
    for method, how in cases:
        maps = salgen.explain(model, images, targets, method=method, **how)
        again = metric_inputs_of(maps, model=model, images=images, targets=targets).explained(images, targets)
        assert np.array_equal(again, maps.values.numpy())
        assert not np.array_equal(again, salgen.explain(model, images, targets, method=method).values.numpy())


def test_what_is_left_out_a_wrong_source_and_another_data_set_are_said(data, permuted, tmp_path):
    how = {"model": permuted / "lesion-cnn-seed0", "methods": ["gradient"], "limit": 4, "out": tmp_path / "run"}
    with pytest.raises(SalgenError, match="nowhere"):
        evaluate(data, source=str(tmp_path / "nowhere"), **how)
    assert not (tmp_path / "run").exists()
    with pytest.warns(SalgenWarning, match="left out of contrast: mcr, mcs, which take a second model"):
        evaluate(data, metrics=["contrast"], **how)
    other = salgen.make("perlin-lesions", tmp_path / "other", splits={"test": 6}, parameters=QUICK, seed=1)
    before = (permuted / "scores.parquet").read_bytes()
    with pytest.raises(SalgenError, match=r"experiment \(data set data there, other here; .*: give another folder"):
        evaluate(other, **{**how, "limit": None, "out": permuted})
    assert (permuted / "scores.parquet").read_bytes() == before


def test_twins_must_be_stored(data, tmp_path):
    splits = {"train": 8, "val": 4, "test": 8}
    bare = salgen.make("perlin-lesions", tmp_path / "bare", splits=splits, parameters=QUICK, twins=False)
    with pytest.raises(SalgenError, match=r"'idr' compares images with their twins: .* holds none"):
        evaluate(bare, metrics=["idr"], out=tmp_path / "run", settings=SETTINGS)
