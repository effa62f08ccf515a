"""Maps from files as methods of a run: a method's own maps, written to files, have its own scores."""

import json
import pickle
import shutil
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from kept_runs import SETTINGS, STATED, make_run, rows
from own_trees import SHAPE, write_own
from pandas.testing import assert_frame_equal
from torch.nn import functional
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.attribution.file_maps import paths_by_name, read_file_maps
from salgen.evaluation.publishing.run_release import published_record
from salgen.evaluation.runs.artifacts.run_record import RunRecord
from salgen.evaluation.runs.rescoring import rescore
from salgen.evaluation.scoring.file_scores import score_files
from salgen.evaluation.training.checkpoints import load_checkpoint

METRICS = ["roc-auc", "prec99", "edge-correlation", "insertion-auc:step=512"]
LOCAL = ["method", "method_parameters", "native_resolution", "reduction"]


@pytest.fixture(scope="module")
def model(data):
    return salgen.train(data, out=data.parent / "model", settings=SETTINGS).path


@pytest.fixture(scope="module")
def files(data, model):
    """Maps of the methods that the runs have too: by name in folders of .npy, in the split's order, and low ones."""
    place = data.parent / "files"
    (place / "signed").mkdir(parents=True)
    samples = list(salgen.load(data))
    ids = [sample["id"] for sample in samples]
    given = {"images": np.stack([s["image"] for s in samples]), "targets": [s["label"] for s in samples]}
    classifier = load_checkpoint(model).classifier
    raw = salgen.explain(classifier, **given, ids=ids, method="gradient", reduce=None).values
    for name, values in zip(ids, raw.numpy(), strict=True):
        np.save(place / "signed" / f"{name}.npy", values)
    masks = np.stack([sample["mask"] for sample in samples]).astype(np.float32)
    low = functional.adaptive_avg_pool2d(torch.from_numpy(masks)[:, None], 7)
    np.savez(place / "low.npz", maps=low.numpy(), ids=np.array(ids))
    return place


@pytest.fixture(scope="module")
def run(data, model, files):
    """A run to which the files are added."""
    out = evaluated(data, model, files, data.parent / "run", maps=(), keep_maps=True)
    with pytest.warns(SalgenWarning, match="adding theirs, low maps"):
        return evaluated(data, model, files, out, methods=None, keep_maps=True)


def evaluated(data, model, files, out, **changes):
    maps = {"theirs": files / "signed", "low maps": files / "low.npz"}
    given = {"methods": ["gradient"], "maps": maps, "metrics": METRICS, "settings": None, "keep_maps": False}
    return make_run(data, out, model=model, reduce="sum", **{**given, **changes})


def of(run, method, drop=LOCAL):
    table = rows(run)
    return table[table["method"] == method].reset_index(drop=True).drop(columns=drop)


@pytest.mark.parametrize(("theirs", "ours"), [("theirs", "gradient"), ("low maps", "oracle-7x7")])
def test_maps_of_a_method_in_files_have_its_scores(run, theirs, ours):
    """Signed maps of the image's size, and maps of 7x7, which are resized as the control's own."""
    assert len(of(run, theirs)) == len(METRICS) * 7 + 7 * 3
    assert_frame_equal(of(run, theirs), of(run, ours), check_exact=True)


def test_the_run_says_where_they_are_from(run, files):
    record = RunRecord.read(run / "run.json")
    theirs, low = (next(m for m in record.methods if m.call == name) for name in ("theirs", "low maps"))
    assert theirs.files["path"] == str(files / "signed")
    assert (theirs.signed, low.signed) == (True, False)
    assert (theirs.native_resolution, low.native_resolution) == ("32x32", "7x7")
    assert (theirs.control, theirs.reduction) == (False, "sum")
    assert f"read from {files / 'signed'} (SHA-256 {theirs.files['sha256'][:12]})" == theirs.reference
    assert set(of(run, "theirs", [])["method_parameters"]) == {
        json.dumps({"sha256": theirs.files["sha256"]}).replace(" ", "")
    }
    assert any("The maps of theirs, low maps were read from files" in note for note in record.notes)
    assert theirs.reference in salgen.report([run]).read_text(encoding="utf-8")


def test_the_digest_is_of_the_values_in_whatever_form(data, files, tmp_path):
    ids = salgen.load(data).ids
    arrays = [np.load(files / "signed" / f"{name}.npy") for name in ids]
    np.save(tmp_path / "all.npy", np.stack(arrays))
    np.savez(tmp_path / "keys.npz", **{name: values[0] for name, values in zip(ids, arrays, strict=True)})
    paths = (files / "signed", tmp_path / "all.npy", tmp_path / "keys.npz")
    digests = [read_file_maps("m", path, ids, (32, 32), "the data").sha256 for path in paths]
    assert len(set(digests)) == 1
    method = read_file_maps("m", paths[1], ids, (32, 32), "the data")
    assert pickle.loads(pickle.dumps(method)) == method  # workers of Ray get it so
    np.save(tmp_path / "all.npy", np.stack([arrays[1], arrays[0], *arrays[2:]]))
    assert read_file_maps("m", tmp_path / "all.npy", ids, (32, 32), "the data").sha256 != digests[0]


def test_maps_of_own_images_may_be_named_as_these(tmp_path):
    write_own(tmp_path)
    own = salgen.import_images(tmp_path / "images", masks=tmp_path / "masks", parameters=SHAPE, workers=1)
    convolution = torch.nn.Conv2d(3, 2, 3)
    network = torch.nn.Sequential(convolution, torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(1800, 2))
    given = {"maps": tmp_path / "maps", "metrics": ["roc-auc"], "preprocess": ([0.5] * 3, [0.5] * 3)}
    run = salgen.evaluate(own, model=network, out=tmp_path / "run", **given)
    table = run.scores[run.scores["method"] == "maps"]
    expected = score_files(tmp_path / "maps", own, ["roc-auc"])
    assert table["sample_id"].tolist() == expected.ids
    np.testing.assert_allclose(table["value"], expected.scores["roc-auc"], atol=1e-6)


def test_alone_they_stand_among_the_controls(data, model, files, tmp_path):
    """Samples without a mask need no map, and have none in the gallery."""
    masked = tmp_path / "masked"
    masked.mkdir()
    for sample in salgen.load(data):
        if sample["mask"].any():
            shutil.copy(files / "signed" / f"{sample['id']}.npy", masked)
    out = evaluated(data, model, files, tmp_path / "run", methods=None, maps=[masked], metrics=["roc-auc"])
    record = RunRecord.read(out / "run.json")
    assert [method.call for method in record.methods if not method.control] == ["masked"]
    with np.load(out / "gallery.npz") as gallery:
        blank = np.isnan(gallery["maps"][gallery["methods"].tolist().index("masked")]).all(axis=(1, 2))
        assert np.array_equal(blank, ~gallery["masks"].any(axis=(1, 2)))
    assert "masked" in salgen.report([out]).read_text(encoding="utf-8")


def test_they_stay_in_a_run_to_which_more_is_added_and_groups_leave_out_what_they_cannot_have(
    run, data, model, files, tmp_path
):
    copy = shutil.copytree(run, tmp_path / "run")
    evaluated(data, model, files, copy, methods=None, maps=(), metrics=["m-gt"])
    assert set(of(copy, "theirs")["metric"]) == {*METRICS, "m-gt"}
    assert_frame_equal(of(copy, "theirs"), of(copy, "gradient"), check_exact=True)
    with pytest.raises(SalgenError, match=r"does not hold the maps that the run has as 'theirs': give"):
        evaluated(data, model, files, copy, maps={"theirs": files / "low.npz"})
    with pytest.warns(SalgenWarning, match="max-sensitivity.*, which take maps of other images or models, and maps in"):
        out = evaluated(data, model, files, tmp_path / "few", metrics=["sensitivity", "roc-auc"], limit=4)
    assert "max-sensitivity" not in set(rows(out)["metric"])


def test_a_run_of_them_is_scored_again_verified_and_published(run, data, tmp_path):
    again = rescore(run, metrics=METRICS[:2], out=tmp_path / "again")
    expected = rows(run)
    expected = expected[expected["metric"].isin(METRICS[:2])].reset_index(drop=True)
    assert_frame_equal(rows(again), expected, check_exact=True)
    archive = salgen.publish(run, tmp_path / "run.tar", **STATED)
    assert salgen.verify(archive) == []
    with pytest.raises(SalgenError, match="explains images again, and the maps of theirs, low maps were read from fil"):
        rescore(archive, metrics=["max-sensitivity"], out=tmp_path / "no")
    record = RunRecord.read(run / "run.json")
    shown, hidden = (published_record(record, pixels=pixels) for pixels in (True, False))
    assert {"theirs", "low maps"} <= set(hidden.maps_left_out)
    assert shown.maps_left_out == []
    assert next(m for m in shown.methods if m.call == "theirs").files["path"] == "signed"


def test_what_they_cannot_be_is_said_before_any_work(data, model, files, tmp_path):
    def refused(message, **changes):
        with pytest.raises(SalgenError, match=message):
            evaluated(data, changes.pop("model", model), files, tmp_path / "out", **changes)
        assert not (tmp_path / "out").exists()

    refused("one model that is trained already, and lesion-cnn would be trained only now: give", model="lesion-cnn")
    refused(r"metric 'max-sensitivity:samples=10' takes maps of other images", metrics=["max-sensitivity"])
    refused("metric 'idr' takes maps of other images or models", metrics=["idr"])
    refused("metric 'roar:fraction=0.1' takes maps of other images", metrics=["roar"])
    refused("'gradient' is salgen's, or no name for a table: give one", maps={"gradient": files / "signed"})
    refused("'oracle-mine' is salgen's", maps={"oracle-mine": files / "signed"})
    refused("'low' is the name of others too", maps=[files / "low.npz", f"low={files / 'signed'}"])
    refused("nowhere does not exist", maps=[tmp_path / "nowhere"])
    ids = salgen.load(data).ids
    np.savez(tmp_path / "few.npz", **{name: np.ones((4, 4)) for name in ids[:3]})
    refused(r"few.npz lacks the maps of \d samples of split test with a mask, such as", maps=[tmp_path / "few.npz"])
    np.save(tmp_path / "large.npy", np.ones((len(ids), 33, 32)))
    refused(r"the map of test-000000 is 33x32, larger than its image or mask, 32x32", maps=[tmp_path / "large.npy"])
    sizes = {name: np.ones((4 + (name == ids[2]), 4)) for name in ids}
    np.savez(tmp_path / "sizes.npz", **sizes)
    said = r"maps have shapes \(1, 4, 4\) \(test-000000\) and \(1, 5, 4\) \(test-000002\)"
    refused(said, maps=[tmp_path / "sizes.npz"])


def test_a_path_that_is_there_is_no_name(tmp_path):
    (tmp_path / "a=b").mkdir()
    assert paths_by_name([f"{tmp_path}/a=b"[:-3] + "c.npy"]) == {"c": tmp_path / "c.npy"}
    with pytest.raises(SalgenError, match="'a=b' is salgen's, or no name"):
        paths_by_name([tmp_path / "a=b"])
    assert paths_by_name([f"mine={tmp_path / 'a=b'}"]) == {"mine": tmp_path / "a=b"}
    assert list(paths_by_name(["grad_cam.maps/", "v1.npz"])) == ["grad_cam.maps", "v1"]
    assert paths_by_name("v1.npz") == {"v1": Path("v1.npz")}
    for arrays in ({"mine": np.zeros(3)}, [np.zeros(3)]):
        with pytest.raises(SalgenError, match="ndarray is no path: write a file, or use"):
            paths_by_name(arrays)


def test_the_command(data, model, files, tmp_path, capsys):
    out = tmp_path / "run"
    words = ["evaluate", str(data), "--model", str(model), "--metrics", "roc-auc", "--out", str(out)]
    assert main([*words, "--maps", f"theirs={files / 'signed'}", "--maps", str(files / "low.npz")]) == 0
    printed = capsys.readouterr().out
    assert {"theirs", "low"} <= {line.split(" ")[0] for line in printed.splitlines()}
    assert set(pq.read_table(out / "scores.parquet")["method"].to_pylist()) >= {"theirs", "low"}
    assert main(["evaluate", str(data), "--maps", str(files / "signed"), "--out", str(tmp_path / "no")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert main(["evaluate", "--from-maps", str(out), "--maps", "x"]) == 2
    assert "leave out --maps with --from-maps" in capsys.readouterr().err


def test_without_the_model_a_data_set_gives_the_run_s_scores(run, data, files):
    """Of the samples with a mask, within the region that is the run's headline."""
    result = score_files(files / "low.npz", data, METRICS[:2])
    table = rows(run)
    table = table[(table["method"] == "low maps") & (table["variant"] == "region:brain")].set_index("metric")
    assert result.region == "brain"
    for name in METRICS[:2]:
        expected = table.loc[name].set_index("sample_id")
        assert result.ids == list(expected.index)
        assert result.scores[name].tolist() == expected["value"].tolist()
        assert result.clusters == expected["cluster"].tolist()
