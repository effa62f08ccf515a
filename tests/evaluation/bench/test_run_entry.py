"""Running salgen-bench: trainings are frozen, scores are of the frozen weights, and nothing finished is done again."""

import base64
import dataclasses
import io
import json
import shutil
import numpy as np
import pandas as pd
import pytest
import safetensors.torch
import torch
from PIL import Image
from run_folders import edited_record
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.bench.published import SPEC, write_rows
from salgen.evaluation.bench.rank_method import rank_method
from salgen.evaluation.bench.rankings import main_entries, method_scores, standing_by
from salgen.evaluation.bench.run_entry import CHECKPOINTS, RESULTS, RUNS, freeze, run_entry
from salgen.evaluation.bench.verify_results import result_problems, summary_problems
from salgen.evaluation.bench.versions import BenchData, BenchEntry, bench_spec
from salgen.evaluation.report.gallery import map_url
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.training.checkpoints import load_checkpoint, save_checkpoint
from salgen.evaluation.training.training import train

NAME = "perlin-lesions-lesion-cnn-reliance"


@pytest.fixture
def copy(out, tmp_path):
    return shutil.copytree(out / RESULTS / NAME, tmp_path / NAME)


def scores_of(results):
    return pd.read_parquet(results / "scores.parquet")


def test_results_name_the_version_and_hold_the_weights_that_were_scored(spec, out):
    results = out / RESULTS / NAME
    assert json.loads((results / SPEC).read_text(encoding="utf-8")) == {"version": 1, "sha256": spec.digest}
    record = json.loads((results / "run.json").read_text(encoding="utf-8"))
    for seed, model in enumerate(record["models"]):
        weights = safetensors.torch.load_file(results / f"lesion-cnn-seed{seed}" / "weights.safetensors")
        assert {tensor.dtype for tensor in weights.values()} <= {torch.float16, torch.int64}
        asked = {"methods": ["gradient", "grad-cam"], "metrics": list(spec.metrics), "limit": spec.images}
        checkpoint = results / f"lesion-cnn-seed{seed}"
        run = evaluate(out / "data" / "perlin-lesions", model=checkpoint, out=out / f"again{seed}", **asked)
        again = json.loads((run / "run.json").read_text(encoding="utf-8"))["models"]
        assert [one["weights_sha256"] for one in again] == [model["weights_sha256"]]
        published = pd.read_parquet(results / "scores.parquet")
        scores = Run(run).scores
        headline = scores[(scores["variant"] == record["headline_variant"]) | (scores["metric"] != spec.metrics[0])]
        both = headline.merge(published[published["training_seed"] == seed], on=["method", "metric", "sample_id"])
        assert len(both) == len(headline) > 0
        np.testing.assert_allclose(both["value_x"], both["value_y"], atol=1e-4)


def test_both_kinds_of_training_are_there_and_taken(spec, out, tmp_path, monkeypatch):
    folders = [out / CHECKPOINTS / f"perlin-lesions-lesion-cnn-{kind}" for kind in ("plain", "reliance")]
    cards = [load_checkpoint(folder / "lesion-cnn-seed1").card for folder in folders]
    assert [card.settings.get("reliance", 0.0) for card in cards] == [0.0, 2.0]
    shutil.copytree(out / CHECKPOINTS, tmp_path / CHECKPOINTS)
    monkeypatch.setattr("salgen.evaluation.training.training._run", None)
    (results,) = run_entry(spec, spec.entry(NAME), tmp_path, methods=["gradient", "grad-cam", "input-x-gradient"])
    assert scores_of(results).equals(scores_of(out / RESULTS / NAME))


def test_a_designed_network_is_scored_as_it_is(tmp_path):
    splits = {"train": 4, "val": 2, "test": 3}
    made = make("coloured-cells", tmp_path / "made", splits=splits, recipes_only=True)
    data = BenchData("coloured-cells", open_dataset(made).fingerprint, splits, designed="colour-counter")
    spec = dataclasses.replace(bench_spec(), data=[data], metrics=["average-precision"])
    (results,) = run_entry(spec, BenchEntry(data, "colour-counter"), tmp_path, methods=["gradient"])
    assert results.name == "coloured-cells-colour-counter"
    assert {"attribution-cosine", "average-precision"} <= set(scores_of(results)["metric"])
    assert not (tmp_path / CHECKPOINTS).exists()
    assert (tmp_path / RUNS).is_dir()


def test_weights_stay_as_they_are_where_half_precision_changes_a_prediction(tmp_path):
    how = {"splits": {"train": 32, "val": 8, "test": 12}, "parameters": {"image_size": (32, 32)}}
    data = make("perlin-lesions", tmp_path / "data", **how)
    trained = train(data, tmp_path / "model", settings={"widths": (4, 8), "hidden": 8, "epochs": 1})
    weights = trained.classifier.state_dict()
    last = next(name for name in reversed(weights) if name.endswith("bias"))
    weights[last] = torch.tensor([1.0, 1.0 + 1e-4])  # equal in half precision, where the first class wins
    for name, tensor in weights.items():
        if name != last and tensor.is_floating_point():
            tensor.zero_()
    save_checkpoint(trained.path, weights, trained.card)
    before = (trained.path / "weights.safetensors").read_bytes()
    assert not freeze(trained.path, data)
    assert (trained.path / "weights.safetensors").read_bytes() == before


@pytest.mark.parametrize("reliance", [False, True])
def test_methods_stand_by_the_mean_of_their_scores(spec, out, reliance):
    found = standing_by(spec, method_scores(spec, out / RESULTS, main_entries(spec, reliance=reliance)))
    scores = Run(out / RUNS / f"perlin-lesions-lesion-cnn-{'reliance' if reliance else 'plain'}").scores
    record = json.loads((out / RESULTS / NAME / "run.json").read_text(encoding="utf-8"))
    places = []
    for metric in spec.metrics:  # of the first families' headlines, here two
        of_metric = scores[(scores["metric"] == metric) & (scores["variant"] == record["headline_variant"])]
        if of_metric.empty:
            of_metric = scores[scores["metric"] == metric]
        means = of_metric.groupby(["training_seed", "method"])["value"].mean().unstack()
        means = means[found.methods]
        worse = {m: sum((1 - np.sign(means[m] - means[other])) / 2 for other in means) - 0.5 for m in means}
        places.append({method: count.mean() / (len(found.methods) - 1) for method, count in worse.items()})
    assert sorted(found.methods) == ["grad-cam", "gradient", "input-x-gradient"]
    expected = [np.mean([place[method] for place in places]) for method in found.methods]
    assert found.places == pytest.approx(expected)


@pytest.mark.parametrize("quick", [False, True])
def test_a_method_is_ranked_on_the_frozen_checkpoints(spec, out, tmp_path, monkeypatch, quick):
    monkeypatch.setattr("salgen.evaluation.training.training._run", None)
    monkeypatch.setattr("salgen.evaluation.bench.rank_method.QUICK_IMAGES", 6)
    found = rank_method(spec, "input-x-gradient", out / RESULTS, tmp_path, quick=quick)
    assert set(found.methods) == {"gradient", "grad-cam", "input-x-gradient"}
    assert not [path for path in tmp_path.rglob("maps") if path.is_dir()]
    whole = copy_of(spec, out, ["gradient", "grad-cam", "input-x-gradient"], tmp_path / "whole", quick)
    assert found.methods == whole.methods
    assert found.places == pytest.approx(whole.places)


def copy_of(spec, out, methods, folder, quick):
    """The standing if all methods had been run together."""
    shutil.copytree(out / CHECKPOINTS, folder / CHECKPOINTS)
    if quick:
        spec = dataclasses.replace(spec, images=6, trainings=1)
    run_entry(spec, spec.entry(NAME), folder, methods=methods)
    return standing_by(spec, method_scores(spec, folder / RESULTS, main_entries(spec)))


def test_checkpoints_are_ranked_on_as_they_were_frozen(spec, out, tmp_path, monkeypatch):
    """Also where half precision would change a prediction, so that the weights stayed as they were."""
    monkeypatch.setattr("salgen.evaluation.bench.run_entry.freeze", None)
    rank_method(spec, "gradient", out / RESULTS, tmp_path, quick=True)


def test_results_of_another_version_are_refused(spec, out, tmp_path):
    shutil.copytree(out / RESULTS, tmp_path / RESULTS)
    (tmp_path / RESULTS / NAME / SPEC).write_text('{"version": 1, "sha256": "0"}', encoding="utf-8")
    with pytest.raises(SalgenError, match="is not of salgen-bench 1"):
        method_scores(spec, tmp_path / RESULTS, main_entries(spec))
    with pytest.raises(SalgenError, match="holds no results such as"):
        method_scores(spec, tmp_path / "data", main_entries(spec))


def test_sound_results_are_verified(spec, out, tmp_path):
    assert list(result_problems(spec, out / RESULTS, seed=1)) == []
    with pytest.raises(SalgenError, match="holds no results of"):
        list(result_problems(spec, tmp_path, seed=1))


@pytest.mark.parametrize("change", [2e-4, np.nan])
def test_a_score_that_the_weights_do_not_give_is_found(spec, copy, change):
    scores = scores_of(copy)
    scores.loc[scores["method"] == "gradient", "value"] += change
    scores.to_parquet(copy / "scores.parquet")
    problems = "\n".join(result_problems(spec, copy.parent, methods=100, seed=1))
    assert f"{NAME}: average-precision of gradient on test-" in problems
    assert "grad-cam on" not in problems


@pytest.mark.parametrize("flag", ["correct", "certified", "cluster"])
def test_what_is_said_of_an_image_is_checked(spec, copy, flag):
    scores = scores_of(copy)
    scores[flag] = "another" if flag == "cluster" else ~scores[flag].fillna(value=False).astype(bool)
    write_rows(spec, scores, copy)
    problems = list(result_problems(spec, copy.parent, methods=1, seed=1))
    assert any("otherwise right, certified or clustered" in problem for problem in problems)


def test_a_mean_and_a_certified_share_that_do_not_follow_from_the_scores_are_found(spec, copy):
    summary = pd.read_csv(copy / "summary.csv")
    place = summary.index[(summary["method"] == "gradient") & (summary["metric"] == "average-precision")][0]
    summary.loc[place, "ci_low"] -= 0.01
    summary.drop(index=summary.index[-1]).to_csv(copy / "summary.csv", index=False)
    problems = list(summary_problems(spec, copy))
    assert len(problems) == 2
    assert f"average-precision of gradient on {summary.samples[place]} samples is not what" in "".join(problems)
    with edited_record(copy) as record:
        record["certificates"]["models"][1]["coverage"] = 0.75
    assert "run.json: 0.750 certified under training 1" in "".join(summary_problems(spec, copy))


@pytest.mark.parametrize("name", ["scores.parquet", "summary.csv", "salgen-bench.json"])
@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_missing_and_damaged_files_are_problems(spec, copy, name, damage):
    (copy / name).unlink() if damage == "missing" else (copy / name).write_bytes(b"")
    (problem,) = result_problems(spec, copy.parent, seed=1)
    assert f"{name} is missing or damaged" in problem


def test_weights_that_are_not_those_of_the_record_are_found(spec, copy):
    for seed in range(spec.trainings):
        checkpoint = copy / f"lesion-cnn-seed{seed}" / "weights.safetensors"
        weights = safetensors.torch.load_file(checkpoint)
        safetensors.torch.save_file({name: 1.05 * tensor for name, tensor in weights.items()}, checkpoint)
        card = checkpoint.with_name("model.json")
        values = json.loads(card.read_text(encoding="utf-8"))
        del values["weights_sha256"]  # else they are refused before anything is scored
        card.write_text(json.dumps(values), encoding="utf-8")
    problems = list(result_problems(spec, copy.parent, seed=1))
    assert any("weights.safetensors is not what was scored" in problem for problem in problems)
    assert any("is said to be" in problem for problem in problems)


def test_the_summary_is_that_of_the_run_with_version_and_seeds(spec, out):
    summary = pd.read_csv(out / RESULTS / NAME / "summary.csv")
    for table in (summary, scores_of(out / RESULTS / NAME)):
        assert set(table["sha256"]) == {spec.digest[:12]}
        assert set(table["version"]) == {1}
    assert set(summary["entry"]) == {NAME}
    assert set(summary.dropna(subset=["mean"])["training_seeds"]) == {"0 1"}
    run = Run(out / RUNS / NAME)
    own = run.summary[(run.summary["training_seed"] == "all") & run.summary["samples"].isin(["all", "certified"])]
    headline = own["variant"] == run.record.headline_variant
    own = own[headline | ~own["metric"].isin(own.loc[headline, "metric"])]
    both = summary.merge(own, on=["samples", "method", "metric"], how="outer", suffixes=("", "_run"))
    assert len(both) == len(summary) == len(own)
    np.testing.assert_allclose(both["mean"], both["mean_worst_case"], atol=1e-5)
    whole = both[both["n_invalid_maps"] == 0]  # the run's interval of the mean leaves failed maps out
    assert len(whole) > len(both) / 2
    for name in ("ci_low", "ci_high"):
        np.testing.assert_allclose(whole[name], whole[f"{name}_run"], atol=1e-5)


def colours(values):
    """The number of each pixel's colour in a picture of a map."""
    picture = Image.open(io.BytesIO(base64.b64decode(map_url(values, signed=False).partition(",")[2])))
    return np.asarray(picture).astype(int)


def test_pictures_are_those_of_the_run(out):
    own, kept = (np.load(folder / NAME / "gallery.npz") for folder in (out / RUNS, out / RESULTS))
    assert kept["maps"].dtype == np.float16
    assert len(kept["ids"]) == 4
    maps = own["maps"][:, :4]
    for place in np.ndindex(maps.shape[:2]):
        shown, before = (colours(np.abs(some[place]).astype(np.float32)) for some in (kept["maps"], maps))
        assert np.abs(shown - before).max() <= 1
