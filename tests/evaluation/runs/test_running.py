"""A whole evaluation, small: what it writes, that it goes on where it was, and what it refuses."""

import json
import shutil
from unittest.mock import Mock
import numpy as np
import pyarrow.parquet as pq
import pytest
from kept_runs import SETTINGS, scores
from torch import nn
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.attribution.method_selection import DEMO_METHODS, all_methods, select_methods
from salgen.evaluation.runs import pipeline
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, RESULT_COLUMNS
from salgen.evaluation.runs.gallery_maps import first_of_each_class
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.training.checkpoints import load_checkpoint
from salgen.registry import METHODS

CALLS = ["gradient", "lrp-alpha-beta:alpha=1,beta=0"]


@pytest.fixture(scope="module")
def run(data):
    out = data.parent / "run"
    return evaluate(data, methods=CALLS, settings=SETTINGS, n_trainings=2, out=out)


def test_every_method_sample_seed_metric_and_variant_has_one_row_and_the_record_says_how(run, data):
    table = scores(run)
    assert list(table.columns) == list(RESULT_COLUMNS)
    assert set(table["method"]) == set(select_methods(CALLS).methods)
    assert set(table["variant"]) == {"region:brain", "region:image"}
    assert set(table["training_seed"]) == {0, 1}
    samples = [sample["id"] for sample in salgen.load(data) if sample["label"] == 1]
    assert set(table["sample_id"]) == set(samples)
    count = len(samples) * 2 * 2 * table["method"].nunique() * table["metric"].nunique()
    assert len(table) == count
    assert pq.ParquetFile(run / "scores.parquet").num_row_groups == 1  # not one for each part
    assert not table.duplicated(["sample_id", "training_seed", "method", "metric", "variant"]).any()
    record = json.loads((run / "run.json").read_text())
    assert record["dataset"]["fingerprint"] == salgen.load(data).fingerprint
    assert record["samples"] == {"split_total": 14, "considered": 14, "with_mask": 7, "without_mask": 7}
    assert [model["seed"] for model in record["models"]] == [0, 1]
    assert all(0 <= model["accuracy"] <= 1 for model in record["models"])
    assert {method["call"]: method["maps"] for method in record["methods"]}["gradient"] == 14
    assert record["headline_variant"] == "region:brain"
    assert (run / "summary.csv").read_text().startswith("samples,model,")


def test_scores_are_those_of_explain_and_score(run, data):
    trained = load_checkpoint(run / "lesion-cnn-seed1")
    sample = next(item for item in salgen.load(data) if item["label"] == 1)
    maps = salgen.explain(trained.classifier, sample["image"][None], [1], method=CALLS[1], ids=[sample["id"]])
    expected = salgen.score(maps.values, sample["mask"][None], "all", valid=sample["regions"]["brain"])
    table = scores(run).query("variant == 'region:brain' and training_seed == 1")
    mine = table[(table["sample_id"] == sample["id"]) & (table["method"] == "lrp-alpha-beta:alpha=1,beta=0")]
    for name, value in zip(mine["metric"], mine["value"], strict=True):
        assert value == pytest.approx(expected[name][0], abs=1e-5)


def test_scale_demo_takes_a_dozen_methods_and_says_how_to_get_all(run, data, tmp_path, capsys):
    demo = evaluate(data, model=run / "lesion-cnn-seed0", scale="demo", limit=2, out=tmp_path / "demo")
    named = {method["name"] for method in json.loads((demo / "run.json").read_text())["methods"]}
    controls = {name for name in METHODS.names() if METHODS.load(name).control}
    assert named == (controls | set(DEMO_METHODS)) - {"attention-rollout"}
    said = capsys.readouterr().err
    assert f"takes {len(controls) + 12} of {len(all_methods())} methods by default" in said
    reason = "the network has no attention by a softmax that depends on the image"
    assert f"1 of {len(controls) + 13} methods left out: attention-rollout ({reason})" in said
    assert "-m all (from Python methods=['all']) takes all" in said


@pytest.mark.parametrize(
    ("option", "weight"), [([], 2.0), (["--reliance"], 2.0), (["--no-reliance"], None), (["--set", "reliance=3"], 3.0)]
)
def test_models_are_trained_for_reliance_unless_the_command_says_otherwise(data, tmp_path, monkeypatch, option, weight):
    monkeypatch.setattr("salgen.evaluation.training.training_settings.RELIANCE", 2.0)
    sets = ["--set", "epochs=1", "--set", "widths=4,4", "--set", "hidden=4"]
    words = ["-m", "gradient", "--n-trainings", "1", "--limit", "2", "--out", str(tmp_path / "run"), *sets, *option]
    assert main(["evaluate", str(data), *words]) == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["command"] == ["salgen", "evaluate", str(data), *words]
    (model,) = record["models"]
    assert (model["settings"].get("reliance"), model["settings"]["epochs"]) == (weight, 1)


@pytest.mark.parametrize(
    ("how", "redraws"), [({}, 8), ({"scale": "demo"}, 8), ({"scale": "full"}, 59), ({"redraws": 3}, 3)]
)
def test_a_scale_has_its_number_of_redraws(run, data, tmp_path, how, redraws):
    again = evaluate(data, model=run / "lesion-cnn-seed0", methods=["gradient"], limit=2, out=tmp_path / "run", **how)
    assert json.loads((again / "run.json").read_text())["certificates"]["redraws"] == redraws


def test_where_no_training_for_reliance_is_possible_it_is_plain_and_says_so(data, tmp_path, run, monkeypatch):
    monkeypatch.setattr("salgen.evaluation.training.training_settings.RELIANCE", 2.0)
    asked = {"methods": ["gradient"], "settings": {**SETTINGS, "rotation": 5.0}, "n_trainings": 1, "limit": 4}
    with pytest.warns(
        SalgenWarning, match="is trained plainly, not for reliance: training: reliance goes without rotation"
    ):
        plain = evaluate(data, out=tmp_path / "plain", **asked)
    assert "reliance" not in json.loads((plain / "run.json").read_text())["models"][0]["settings"]
    with pytest.raises(SalgenError, match="goes without rotation"):
        evaluate(data, out=tmp_path / "refused", reliance=True, **asked)
    with pytest.raises(SalgenError, match="is trained already: leave out training settings, reliance and"):
        evaluate(data, model=run / "lesion-cnn-seed0", reliance=True, out=tmp_path / "refused")
    assert not (tmp_path / "refused").exists()


def test_adding_a_method_computes_that_method_only(run, data, tmp_path):
    run = shutil.copytree(run, tmp_path / "run")
    before = {path: path.stat().st_mtime_ns for path in (run / PARTS).iterdir()}
    evaluate(data, methods=[*CALLS, "lrp-z"], settings=SETTINGS, n_trainings=2, out=run)
    after = {path: path.stat().st_mtime_ns for path in (run / PARTS).iterdir()}
    assert {path: after[path] for path in before} == before
    assert len(after) == len(before) + 2
    assert set(select_methods(["lrp-z"]).methods) - set(select_methods(["random"]).methods) == {"lrp-z"}


def test_the_record_is_written_last(data, tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "write_tables", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        evaluate(data, methods=["gradient"], settings=SETTINGS, n_trainings=1, out=tmp_path / "run")
    assert not (tmp_path / "run" / "run.json").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"methods": ["gradcam"]}, "did you mean 'grad-cam'"),
        ({"limit": 0}, "must be at least 1"),
        ({"target": "truth"}, "unknown target"),
        ({"reduce": "mean"}, "must be one of native"),
        ({"model": "lesion-cn"}, "did you mean 'lesion-cnn'"),
        ({"scale": "huge", "model": nn.Identity()}, "unknown scale"),
        ({"split": "tset"}, "did you mean 'test'"),
        ({"methods": []}, "no method was chosen"),
        ({"model": nn.Identity()}, r"model Identity gives \(1, 1, 32, 32\) for one image: must be logits"),
        ({"model": None}, r"model = None: must be text, a path or a torch\.nn\.Module"),
        ({"max_memory": -1}, "must be a positive number of GB"),
    ],
)
def test_what_is_refused_before_any_work(arguments, says, data, tmp_path):
    with pytest.raises(SalgenError, match=says):
        evaluate(data, **{"out": tmp_path / "run", **arguments})
    assert not (tmp_path / "run").exists()


def test_a_folder_of_checkpoints_names_one(run, data, tmp_path):
    with pytest.raises(SalgenError, match=r"no checkpoint at .*did you mean .*lesion-cnn-seed0"):
        evaluate(data, model=run, out=tmp_path / "run")


def test_a_part_that_a_power_cut_left_half_is_made_again_and_a_damaged_one_is_named(run, data, tmp_path):
    run = shutil.copytree(run, tmp_path / "run")
    methods = [method["call"] for method in json.loads((run / "run.json").read_text())["methods"]]
    before = (run / "scores.parquet").read_bytes()
    part = min(path for path in (run / PARTS).iterdir() if b"salgen" in (pq.read_schema(path).metadata or {}))
    whole = part.read_bytes()
    for left in (b"", whole[:50]):
        part.write_bytes(left)
        evaluate(data, methods=methods, settings=SETTINGS, n_trainings=2, out=run)
        assert (run / "scores.parquet").read_bytes() == before
    part.write_bytes(whole[:30] + b"other" + whole[35:])
    with pytest.raises(SalgenError, match="is damaged"):
        evaluate(data, methods=methods, settings=SETTINGS, n_trainings=2, out=run)


@pytest.mark.parametrize(("classes", "shown"), [(2, 6), (3, 9), (5, 10), (12, 12), (50, 10)])
def test_the_gallery_shows_a_few_samples_however_many_classes_there_are(classes, shown):
    labels = np.arange(400) % classes
    chosen = first_of_each_class(labels)
    assert len(chosen) == shown
    assert chosen[0] == classes - 1
    assert len(set(labels[chosen].tolist())) == min(classes, shown)
