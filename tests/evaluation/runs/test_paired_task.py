"""One run trains a second model for another task, explains the same images under both, and pairs twins."""

import json
import shutil
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.report import console_summary, report
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.training.checkpoints import load_checkpoint

CLASSES = {"objects": ("dog", "kite"), "scenes": ("bedroom", "runway"), "image_size": (32, 32), "pictures": 10}
SETTINGS = {"epochs": 2, "widths": "4,4,4,4"}
METRICS = ["g-cf", "g-cf:of=paired", "mcs", "idr:of=paired", "idr-bam:of=paired"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    splits = {"train": 48, "val": 8, "test": 16}
    return salgen.make("bam", tmp_path_factory.mktemp("pairing") / "bam", splits=splits, parameters=CLASSES)


@pytest.fixture(scope="module")
def run(data):
    how = {"methods": ["gradient"], "metrics": METRICS, "settings": SETTINGS, "reduce": "sum_pos", "n_trainings": 2}
    return evaluate(data, model="scnn", paired_task="scene", out=data.parent / "run", **how)


def e_of(saliency):
    """BAM's map, written again."""
    values = np.maximum(saliency.astype(np.float64), 0)
    values = np.minimum(values, np.percentile(values, 99))
    return np.zeros_like(values) if np.ptp(values) == 0 else (values - values.min()) / np.ptp(values)


def strength(saliency, mask):
    return e_of(saliency)[mask].sum() / mask.sum()


@pytest.mark.parametrize("seed", [0, 1])
def test_values_are_those_of_both_models_explained_alone(data, run, seed):
    samples = list(salgen.load(data))
    folders = {"object": f"scnn-seed{seed}", "scene": f"scnn-scene-seed{seed}"}
    models = {task: load_checkpoint(run / folder).classifier for task, folder in folders.items()}
    images = {what: np.stack([sample[what] for sample in samples]) for what in ("image", "twin")}
    rows = pq.read_table(run / "scores.parquet").to_pandas().query(f"method == 'gradient' and training_seed == {seed}")
    maps, right = {}, {}
    for task, model in models.items():
        labels = np.array([sample[task] for sample in samples])
        for what, pixels in images.items():
            explained = salgen.explain(model, pixels, labels, method="gradient", reduce="sum_pos")
            maps[task, what] = explained.values.numpy()
            right[task, what] = explained_classes(model, pixels) == labels
    found = {metric: rows[rows["metric"] == metric].set_index("sample_id")["value"] for metric in METRICS}
    assert right["object", "image"].any()
    assert (right["scene", "image"] & right["scene", "twin"]).any()
    for number, sample in enumerate(samples):
        strengths = {
            key: strength(values[number], sample["mask"]) if right[key][number] else np.nan
            for key, values in maps.items()
        }
        first, second, twin = (strengths[key] for key in (("object", "image"), ("scene", "image"), ("scene", "twin")))
        both = np.isfinite(second - twin)
        expected = {
            "g-cf": first,
            "g-cf:of=paired": second,
            "mcs": first - second,
            "idr:of=paired": float(second > twin) if both else np.nan,
            "idr-bam:of=paired": float(twin > second) if both else np.nan,
        }
        for metric, value in expected.items():
            assert found[metric][sample["id"]] == pytest.approx(value, abs=1e-5, nan_ok=True), (metric, sample["id"])


def explained_classes(model, pixels):
    with torch.inference_mode():
        return model(torch.from_numpy(pixels)).argmax(dim=1).numpy()


def test_the_second_model_is_trained_as_the_first_is(run):
    first, second = (load_checkpoint(run / name).card for name in ("scnn-seed1", "scnn-scene-seed1"))
    assert (first.task, second.task) == ("object", "scene")
    assert (first.settings, first.parameters, first.seed) == (second.settings, second.parameters, second.seed)
    record = json.loads((run / "run.json").read_text())
    assert [(one["seed"], one["task"]) for one in record["paired_model"]] == [(0, "scene"), (1, "scene")]
    paired = record["paired_model"][1]
    assert (paired["accuracy"], paired["n_images"], paired["chance"]) == (second.test_accuracy, 16, second.chance)


def test_the_report_says_how_well_the_second_model_does(run, tmp_path):
    """A second model that has learnt nothing makes the contrast mean nothing."""
    (read,) = read_runs([run])
    assert [(one.name, one.seed) for one in read.second_models] == [("scnn, scene", 0), ("scnn, scene", 1)]
    copy = shutil.copytree(run, tmp_path / "run")
    record = json.loads((copy / "run.json").read_text())
    for one in (*record["models"], *record["paired_model"]):
        one.update(accuracy=0.98, n_images=500, chance=0.5)
    record["paired_model"][1]["accuracy"] = 0.51
    (copy / "run.json").write_text(json.dumps(record))
    page = report([copy]).read_text()
    assert page.count("near chance: maps mean nothing") == 1
    assert "scnn, scene, training seed 1" in page
    assert "scnn, scene seed 1 is near chance" in console_summary([copy])


def test_a_checkpoint_gets_its_second_model_too(data, run, tmp_path):
    how = {"methods": ["gradient"], "metrics": ["mcs"], "reduce": "sum_pos"}
    again = evaluate(data, model=run / "scnn-seed0", paired_task="scene", out=tmp_path / "again", **how)
    one, other = (
        pq.read_table(folder / "scores.parquet")
        .to_pandas()
        .query("metric == 'mcs' and method == 'gradient' and training_seed == 0")["value"]
        .to_numpy()
        for folder in (run, again)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"paired_task": "scenery"}, "did you mean 'scene'"),
        ({"paired_task": "object"}, "the first model learns that task"),
        ({"paired_task": "scene", "paired_model": "x"}, "give only one"),
        ({"paired_task": "scene", "metrics": ["roc-auc"]}, "no metric contrasts the paired model or task"),
        *(({"metrics": of}, "contrasts two models: give the second one") for of in (["idr:of=paired"], ["all", "mcr"])),
        ({"paired_model": "nowhere"}, "paired model nowhere: give a checkpoint's folder"),
        (
            {"paired_task": "scene", "model": "numpy:zeros"},
            "nobody knows how numpy:zeros was trained; give paired_model",
        ),
    ],
)
def test_what_cannot_be_paired_is_refused(data, tmp_path, how, said):
    with pytest.raises(SalgenError, match=said):
        evaluate(data, **{"model": "scnn", "metrics": ["mcs"], "methods": ["gradient"], "out": tmp_path / "run", **how})
    assert not (tmp_path / "run").exists()
