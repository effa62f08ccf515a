"""A run folder holds one experiment: it is extended, replaced when that is asked for, and otherwise left alone."""

import shutil
import warnings
import pytest
from kept_runs import SETTINGS, scores
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.runs.pipeline import default_run
from salgen.evaluation.runs.running import evaluate

HOW = {"settings": SETTINGS, "n_trainings": 1, "limit": 12}


@pytest.fixture(scope="module")
def finished(data):
    return evaluate(data, methods=["gradient"], metrics=["m-gt"], out=data.parent / "run", **HOW)


@pytest.fixture
def run(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def columns(run):
    looking = [method.call for method in RunRecord.read(run / RECORD).methods if not method.control]
    return set(looking), set(scores(run)["metric"])


def test_methods_and_metrics_are_added_and_said_and_maps_stay_kept(data, run, tmp_path):
    with pytest.warns(SalgenWarning, match=r"run holds this experiment already: adding lrp-z, iou:threshold=0\.3$"):
        evaluate(data, methods=["lrp-z"], metrics=["iou:threshold=0.3"], out=run, **HOW)
    assert columns(run) == ({"gradient", "lrp-z"}, {"m-gt", "iou:threshold=0.3"})
    assert salgen.verify(run) == []
    kept = evaluate(data, methods=["gradient"], metrics=["m-gt"], out=tmp_path / "kept", keep_maps=True, **HOW)
    evaluate(data, methods=["lrp-z"], out=kept, **HOW)
    assert {"gradient", "lrp-z"} <= {name.split("/")[2] for name in RunRecord.read(kept / RECORD).maps}


def test_the_same_again_says_nothing_and_asks_for_the_same(data, run):
    before = scores(run)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*holds this experiment")
        evaluate(data, out=run, **HOW)
        evaluate(data, methods=["gradient"], metrics=["m-gt"], out=run, **HOW)
    assert scores(run).equals(before)


def test_a_call_of_a_record_has_all_its_parameters():
    """`rise` in a record is the paper's, with 4,000 masks, whatever the scale is now."""
    chosen = select_methods(["rise", "gradient"], "demo", earlier=["rise", "random"])
    assert list(chosen.named) == ["rise", "random", "rise:n=200", "gradient"]
    assert chosen.named["rise"].n == 4000


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"limit": None, "target": "pred"}, "limit 12 there, None here; target label there, pred here"),
        ({"n_trainings": 2}, "models lesion-cnn seed 0 there, lesion-cnn seed 0, lesion-cnn seed 1 here"),
        ({"split": "val"}, "split test there, val here"),
        ({"seed": 1}, "seed 0 there, 1 here"),
        ({"model": "scnn", "settings": {"epochs": 1}}, "models lesion-cnn seed 0 there, scnn seed 0 here"),
    ],
)
def test_another_experiment_is_refused_with_what_differs(data, run, change, says):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(SalgenError, match=f"{says}.*give another folder, or --replace"):
        evaluate(data, methods=["gradient"], out=run, **HOW | change)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_other_weights_and_training_settings_are_another_experiment(data, run, tmp_path):
    other = salgen.train(data, tmp_path / "lesion-cnn-seed0", settings=SETTINGS | {"epochs": 2}).path
    with pytest.raises(SalgenError, match=r"weights of seed 0 [0-9a-f]{12} there, [0-9a-f]{12} here"):
        evaluate(data, model=other, methods=["gradient"], limit=12, out=run)
    with pytest.raises(SalgenError, match=r"holds another training .*epochs"):
        evaluate(data, methods=["gradient"], out=run, **HOW | {"settings": SETTINGS | {"epochs": 2}})


def test_a_run_is_replaced_as_a_whole_but_not_by_one_that_is_refused_or_needs_it(data, run):
    with pytest.raises(SalgenError, match="unknown parameter"):
        evaluate(data, methods=["gradient:x=1"], out=run, replace=True, **HOW)
    for second in ({}, {"paired_model": run / "lesion-cnn-seed0"}):
        model = "lesion-cnn" if second else run / "lesion-cnn-seed0"
        with pytest.raises(SalgenError, match="holds the model, and would be removed"):
            evaluate(data, model=model, methods=["gradient"], out=run, replace=True, **second)
    assert (run / "scores.parquet").is_file()
    (run / "stale").touch()
    evaluate(data, methods=["lrp-z"], out=run, replace=True, **HOW | {"limit": 8, "settings": SETTINGS | {"epochs": 2}})
    assert columns(run)[0] == {"lrp-z"}
    assert RunRecord.read(run / RECORD).conventions["limit"] == 8
    assert not (run / "stale").exists()
    assert salgen.verify(run) == []


@pytest.mark.parametrize("replace", [False, True])
def test_a_folder_that_is_no_run_is_left_alone(data, tmp_path, replace):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(SalgenError, match="exists and is not a run: choose another folder"):
        evaluate(data, methods=["gradient"], out=tmp_path, replace=replace, **HOW)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_default_names_tell_experiments_apart_and_the_command_names_a_run_as_the_function_does(
    data, monkeypatch, capsys
):
    assert default_run("perlin", "scnn", {"split": None, "scale": "small"}).as_posix() == "runs/perlin-scnn"
    options = [{"scale": "demo"}, {"limit": 8}, {"split": "val"}, {"target": "no lesion"}, {"target": "no_lesion"}]
    names = [default_run("perlin", "scnn", given).name for given in options]
    assert names[:3] == ["perlin-scnn-scale-demo", "perlin-scnn-limit-8", "perlin-scnn-split-val"]
    assert len(set(names)) == len(names)

    def stop(*given):
        raise SalgenError(default_run(*given).as_posix())

    monkeypatch.setattr("salgen.evaluation.runs.running.default_run", stop)
    for given, name in (([], ""), (["--limit", "8"], "-limit-8")):
        assert main(["evaluate", str(data), *given]) == 2
        assert capsys.readouterr().err == f"error: runs/lesions-lesion-cnn{name}\n"
    with pytest.raises(SalgenError, match=r"^runs/lesions-lesion-cnn$"):
        evaluate(data)
