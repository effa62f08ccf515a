"""Maps that a run kept, scored elsewhere: the same numbers with nothing explained, or a clear word why not."""

import json
import shutil
from unittest.mock import Mock
import numpy as np
import pytest
from kept_runs import CALLS, METRICS, SETTINGS, STATED, make_run, rows
from pandas.testing import assert_frame_equal
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.runs import model_runner, pipeline
from salgen.evaluation.runs.artifacts import costs
from salgen.evaluation.runs.artifacts.saved_maps import kind_of, method_folder
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.rescoring import rescore
from salgen.registry import METHODS


@pytest.fixture(scope="module")
def run(data):
    return make_run(data, data.parent / "run")


@pytest.fixture(scope="module")
def archive(run):
    return salgen.publish(run, run.parent / "run.tar", **STATED)


@pytest.fixture
def unexplained(monkeypatch):
    """Fails whoever explains."""
    monkeypatch.setattr(ModelRunner, "explain", None)


def test_the_same_metrics_give_the_same_tables(run, archive, tmp_path, unexplained):
    for number, maps in enumerate((run, archive)):
        again = rescore(maps, metrics=METRICS, out=tmp_path / str(number))
        assert_frame_equal(rows(again), rows(run), check_exact=True)
        for name in ("summary.csv", "comparisons.csv", "predictions.parquet", "certificates.parquet", "gallery.npz"):
            assert (again / name).read_bytes() == (run / name).read_bytes(), name


def test_other_metrics_are_those_of_an_evaluation(run, data, archive, tmp_path):
    """Metrics of the map, of the whole data set, of the image, and of the model, which the archive holds."""
    metrics = ["m-gt", "iou", "mask-localization-error", "edge-correlation", "insertion-auc"]
    direct = make_run(data, tmp_path / "direct", metrics=metrics, keep_maps=False)
    again = rescore(archive, metrics=metrics, out=tmp_path / "again")
    assert_frame_equal(rows(again), rows(direct), check_exact=False, rtol=1e-12)


def test_a_run_goes_on_from_its_maps(run, data, tmp_path, monkeypatch):
    """One more metric: nothing is explained again but the gallery; one more method: that one alone."""
    copy = shutil.copytree(run, tmp_path / "run")
    written, usual = [], model_runner.write_maps

    def watched(path, maps, key):
        written.append(path.relative_to(copy).as_posix())
        usual(path, maps, key)

    monkeypatch.setattr(model_runner, "write_maps", watched)
    monkeypatch.setattr(costs, "PIECE_S", 1e9)  # on a busy machine there would be pieces
    make_run(data, copy, metrics=[*METRICS, "m-gt"])
    assert written == []
    assert set(rows(copy)["metric"]) == {*METRICS, "m-gt"}
    make_run(data, copy, methods=[*CALLS, "input-x-gradient"])
    assert {(method_folder(name), kind_of(name)) for name in written} == {
        ("input-x-gradient", kind) for kind in ("maps", "twin_maps")
    }


def test_maps_are_kept_later_too(data, tmp_path):
    """A run that did not keep them explains again when it shall."""
    out = make_run(data, tmp_path / "run", keep_maps=False)
    assert not (out / "maps").exists()
    before = rows(out)
    make_run(data, out)
    assert_frame_equal(rows(rescore(out, metrics=METRICS, out=tmp_path / "again")), before, check_exact=True)


def test_fewer_samples_and_where_their_maps_are_from(run, tmp_path):
    again = rescore(run, metrics=METRICS[:2], limit=5, out=tmp_path / "again")
    few = set(rows(again)["sample_id"])
    assert few < set(rows(run)["sample_id"])
    assert all(int(name.rpartition("-")[2]) < 5 for name in few)
    expected = rows(run)
    expected = expected[expected["sample_id"].isin(few) & expected["metric"].isin(METRICS[:2])]
    assert_frame_equal(rows(again), expected.reset_index(drop=True), check_exact=True)
    again = json.loads((again / "run.json").read_text())
    there = json.loads((run / "run.json").read_text())
    assert {kind_of(name) for name in there["maps"]} == {"maps", "twin_maps"}
    assert there["scored_from"] is None
    assert again["maps"] == {}
    assert again["scored_from"]["created"] == there["created"]
    assert again["models"] == there["models"]
    assert again["left_out"] == there["left_out"]


def test_a_checkpoint_from_elsewhere_is_kept_too(run, data, tmp_path):
    given = shutil.copytree(run / "lesion-cnn-seed0", tmp_path / "somewhere" / "weights")
    out = make_run(data, tmp_path / "run", model=given, settings=None)
    shutil.rmtree(given.parent)
    again = rescore(out, metrics=["insertion-auc"], out=tmp_path / "again")
    assert rows(again)["value"].notna().any()


def test_a_model_that_is_not_there_is_asked_nothing(run, data, tmp_path):
    copy = shutil.copytree(run, tmp_path / "run")
    shutil.rmtree(copy / "lesion-cnn-seed0")
    again = rescore(copy, metrics=METRICS, out=tmp_path / "again")
    assert_frame_equal(rows(again), rows(run), check_exact=True)
    with pytest.raises(SalgenError, match="'insertion-auc' cannot be scored from these maps: it queries the model"):
        rescore(copy, metrics=["insertion-auc"], out=tmp_path / "no")
    assert not (tmp_path / "no").exists()


@pytest.fixture
def withheld(run, tmp_path):
    """An archive of the run as one of data that may not be passed on: recipes and masks only."""
    copy = shutil.copytree(run, tmp_path / "withheld")
    for path in (copy / "run.json", copy / "dataset" / "salgen.json"):
        path.write_text(path.read_text().replace('"redistributable": true', '"redistributable": false'))
    return salgen.publish(copy, tmp_path / "run.tar", **STATED)


def without_data_names(run, shown=()):
    table = rows(run)
    return table[~table["method"].isin(shown)].reset_index(drop=True).drop(columns="dataset")


def test_a_model_of_the_user_s_own_is_not_kept_and_that_is_said(data, tmp_path, monkeypatch):
    (tmp_path / "own_model.py").write_text(
        "from torch import nn\n\n\ndef net():\n"
        "    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.warns(SalgenWarning, match="the weights of own_model:net are not kept"):
        out = make_run(data, tmp_path / "run", model="own_model:net", settings=None, methods=["gradient"])
    again = rescore(out, metrics=METRICS, out=tmp_path / "again")
    assert_frame_equal(rows(again), rows(out), check_exact=True)
    with pytest.raises(SalgenError, match="it queries the model, and the run does not hold its weights"):
        rescore(out, metrics=["insertion-auc"], out=tmp_path / "no")


def test_without_images_the_data_set_is_asked_for(run, data, withheld, tmp_path):
    shown = {"intensity", "sobel", "laplace", CALLS[1]}
    again = rescore(withheld, metrics=METRICS, out=tmp_path / "a")
    assert_frame_equal(without_data_names(again), without_data_names(run, shown), check_exact=True)
    with pytest.raises(SalgenError, match="needs images, and the run holds none; give the data set too, as PATH"):
        rescore(withheld, metrics=["edge-correlation"], out=tmp_path / "b")
    found = rescore(withheld, metrics=["edge-correlation"], dataset=data, out=tmp_path / "b")
    whole = rescore(run, metrics=["edge-correlation"], out=tmp_path / "c")
    assert_frame_equal(without_data_names(found), without_data_names(whole, shown), check_exact=True)


def test_maps_of_a_run_that_was_stopped_are_not_scored_as_those_of_the_one_before(run, data, tmp_path, monkeypatch):
    """Maps of another version of a method have replaced those that `run.json` lists."""
    copy = shutil.copytree(run, tmp_path / "run")
    monkeypatch.setattr(METHODS.load("gradient"), "version", 99)

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "write_predictions", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            make_run(data, copy)
    for refused in (
        lambda: rescore(copy, metrics=METRICS, out=tmp_path / "out"),
        lambda: salgen.publish(copy, tmp_path / "run.tar", **STATED),
    ):
        with pytest.raises(SalgenError, match="does not hold the maps of this run: evaluate again"):
            refused()
    make_run(data, copy)
    assert len(rows(rescore(copy, metrics=METRICS[:1], out=tmp_path / "out")))


def test_nothing_else_is_written_over_and_what_another_run_left_does_not_stay(run, data, tmp_path):
    plain = shutil.copytree(data, tmp_path / "data")
    own = shutil.copytree(run, tmp_path / "own")
    other = rescore(run, metrics=METRICS[:1], out=tmp_path / "other")
    for out, said in {plain: "is a data set", own: "maps of its own there, of run"}.items():
        with pytest.raises(SalgenError, match=said):
            rescore(run, out=out)
    again = make_run(data, tmp_path / "again", settings=SETTINGS | {"epochs": 2})
    with pytest.raises(SalgenError, match=r"maps of run [0-9a-f]{12} there, of run [0-9a-f]{12} here"):
        rescore(again, out=other)
    with pytest.raises(SalgenError, match=r"maps of run [0-9a-f]{12} there, of its own here"):
        make_run(data, other)
    copy = shutil.copytree(run, tmp_path / "run")
    out = rescore(copy, metrics=METRICS, out=tmp_path / "out")
    assert (out / "certificates.parquet").is_file()
    (copy / "certificates.parquet").unlink()
    (copy / "gallery.npz").unlink()
    rescore(copy, metrics=METRICS, out=out)
    assert not (out / "certificates.parquet").exists()
    assert not (out / "gallery.npz").exists()


def test_what_cannot_be_scored_is_said_before_any_work(run, data, tmp_path):
    def refused(message, maps=run, **given):
        with pytest.raises(SalgenError, match=message):
            rescore(maps, **{"out": tmp_path / "out", **given})
        assert not (tmp_path / "out").exists()

    refused("does not exist: give a run that", tmp_path / "none")
    np.savez(tmp_path / "maps.npz", maps=np.zeros((4, 32, 32)))
    refused(r"maps.npz is not a folder: .*by 'salgen evaluate DATA --maps PATH', or by", tmp_path / "maps.npz")
    refused(r"run\.json is missing", data)
    refused("needs paired maps, and the run kept none", metrics=["mcs"])
    refused("it trains the model again", metrics=["roar:fraction=0.1"])
    refused("unknown metric 'rocauc'", metrics=["rocauc"])
    refused("is the run whose maps are scored: choose another", out=run)
    refused("nowhere does not exist", dataset=tmp_path / "nowhere")
    other = salgen.make("perlin-lesions", tmp_path / "other", splits={"test": 2}, seed=3, workers=1)
    refused("is not lesions, the data set of these maps: give that", dataset=other)
    plain = shutil.copytree(run, tmp_path / "plain")
    record = json.loads((plain / "run.json").read_text())
    (plain / "run.json").write_text(json.dumps({**record, "maps": {}}))
    refused("holds no maps: evaluate with --keep-maps", plain)
    (plain / "run.json").write_text(json.dumps({**record, "maps": 7}))
    refused("holds 7 as 'maps', which must be of type dict", plain)
    refused("limit = 0: must be at least 1", limit=0)
    refused("max_memory", max_memory=-1.0)


def test_the_command(run, data, archive, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "--from-maps", str(archive), "--metrics", "roc-auc,iou:threshold=0.3"]) == 0
    out = capsys.readouterr().out
    assert "report: runs/lesions-lesion-cnn-rescored/report.html" in out
    assert (tmp_path / "runs" / "lesions-lesion-cnn-rescored" / "report.html").is_file()
    for options in ("--model lesion-cnn", "--keep-maps", "--target pred", "-m gradient", "--set epochs=2"):
        assert main(["evaluate", "--from-maps", str(archive), *options.split()]) == 2
        assert f"leave out {options.split()[0]} with --from-maps" in capsys.readouterr().err
    assert main(["evaluate"]) == 2
    assert "give the folder or archive of a DATASET, or the maps of a run with --from-maps" in capsys.readouterr().err
