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
METRICS = {"g-cf": ("object", "scnn"), "g-cf:of=paired": ("scene", "scnn-scene")}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    splits = {"train": 48, "val": 8, "test": 16}
    return salgen.make("bam", tmp_path_factory.mktemp("pairing") / "bam", splits=splits, parameters=CLASSES)


@pytest.fixture(scope="module")
def run(data):
    how = {"methods": ["gradient"], "metrics": [*METRICS, "mcs"], "settings": SETTINGS, "reduce": "sum_pos"}
    return evaluate(data, model="scnn", paired_task="scene", n_trainings=2, out=data.parent / "run", **how)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", [0, 1])
def test_each_model_is_explained_alone_for_its_own_task(data, run, seed, metric):
    samples, (task, name) = list(salgen.load(data)), METRICS[metric]
    model = load_checkpoint(run / f"{name}-seed{seed}").classifier
    images, masks = (np.stack([sample[what] for sample in samples]) for what in ("image", "mask"))
    labels = np.array([sample[task] for sample in samples])
    maps = salgen.explain(model, images, labels, method="gradient", reduce="sum_pos")
    correct = model(torch.from_numpy(images)).argmax(dim=1).numpy() == labels
    assert correct.any()
    expected = salgen.score(maps, masks, "g-cf", correct=correct)["g-cf"]
    rows = pq.read_table(run / "scores.parquet").to_pandas().query(f"method == 'gradient' and training_seed == {seed}")
    found = rows[rows["metric"] == metric].set_index("sample_id").loc[[sample["id"] for sample in samples], "value"]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_second_model_is_trained_as_the_first_and_the_report_says_how_well_it_does(run, tmp_path):
    first, second = (load_checkpoint(run / name).card for name in ("scnn-seed1", "scnn-scene-seed1"))
    assert (first.task, second.task) == ("object", "scene")
    assert (first.settings, first.parameters, first.seed) == (second.settings, second.parameters, second.seed)
    record = json.loads((run / "run.json").read_text())
    assert [(one["seed"], one["task"]) for one in record["paired_model"]] == [(0, "scene"), (1, "scene")]
    paired = record["paired_model"][1]
    assert (paired["accuracy"], paired["n_images"], paired["chance"]) == (second.test_accuracy, 16, second.chance)
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
        ({"paired_task": "scene", "model": "numpy:zeros"}, "nobody knows how numpy:zeros was trained"),
    ],
)
def test_what_cannot_be_paired_is_refused(data, tmp_path, how, said):
    with pytest.raises(SalgenError, match=said):
        evaluate(data, **{"model": "scnn", "metrics": ["mcs"], "methods": ["gradient"], "out": tmp_path / "run", **how})
    assert not (tmp_path / "run").exists()
