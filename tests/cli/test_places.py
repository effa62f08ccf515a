"""Places that commands refuse to write to, in one line that names what the user gave."""

import numpy as np
import pytest
from kept_runs import STATED, make_data
from own_image_files import write_images, write_labels, write_masks
from own_modules import SMALL_DETECTOR
import salgen
from salgen.cli.main import main
from salgen.datasets.format.output_folder import sole_writer

WITHIN = {
    "make": ["make", "perlin-lesions", "{data}/more", "--scale", "demo"],
    "import": ["import", "{photos}", "{data}/data/more", "--masks", "{photos}-masks", "--labels", "{photos}.csv"],
    "show": ["show", "{data}", "--out", "{data}/sheet.png"],
    "publish in a run": ["publish", "{data}", "{run}/lesions.tar", "--license", "CC0-1.0"],
    "unpack": ["unpack", "{archive}", "{data}/copy"],
    "train": ["train", "{data}", "--out", "{data}/models", "--scale", "demo"],
    "score": ["score", "{images}", "{images}", "--out", "{data}/scores.csv"],
    "explain": ["explain", "{images}/a.png", "--model", "a_model:net", "-m", "gradient", "--out", "{data}/maps.png"],
    "report": ["report", "{run}", "--out", "{data}/page.html"],
    "leaderboard": ["leaderboard", "{run}", "--out", "{data}/site"],
    "evaluate": ["evaluate", "{data}", "--out", "{data}/run", "--model", "a_model:net", "--scale", "demo"],
    "evaluate in a run": ["evaluate", "{data}", "--out", "{run}/run", "--model", "a_model:net", "--scale", "demo"],
    "make in a run": ["make", "perlin-lesions", "{run}/data", "--scale", "demo"],
}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    place = tmp_path_factory.mktemp("places")
    (place / "a_model.py").write_text(f"{SMALL_DETECTOR.format('ReLU')}\nnet = detector()")
    (place / "images").mkdir()
    np.save(place / "images" / "a.npy", np.zeros((4, 4)))
    data = make_data(place)
    photos = write_images(place / "photos")
    write_masks(place / "photos-masks")
    write_labels(place / "photos.csv")
    archive = salgen.publish(data, place / "lesions.tar", **STATED)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        given = {"methods": ["gradient"], "metrics": ["roc-auc"], "out": place / "run", "limit": 2, "redraws": 2}
        run = salgen.evaluate(data, model="a_model:net", **given)
    return {"data": data, "images": place / "images", "photos": photos, "archive": archive, "run": run.path}


@pytest.mark.parametrize("name", WITHIN)
def test_nothing_is_written_within_a_data_set_or_a_run(places, name, capsys, monkeypatch):
    monkeypatch.chdir(places["data"].parent)
    before = sorted(path for path in places["data"].parent.rglob("*") if path.suffix != ".pyc")
    capsys.readouterr()
    assert main([word.format(**places) for word in WITHIN[name]]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    kind, whole = ("run", places["run"]) if name.endswith("in a run") else ("data set", places["data"])
    assert f"lies within the {kind} {whole}" in last
    assert "choose a place outside it" in last
    assert sorted(path for path in places["data"].parent.rglob("*") if path.suffix != ".pyc") == before
    assert salgen.verify(places["data"], samples=0) == []


def test_nothing_is_added_to_a_published_run(places, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(places["data"].parent)
    published = salgen.unpack(salgen.publish(places["run"], tmp_path / "run.tar", **STATED), tmp_path / "published")
    capsys.readouterr()
    words = ["--model", "a_model:net", "-m", "grad-cam", "--limit", "2", "--redraws", "2", "--out", str(published)]
    assert main(["evaluate", str(places["data"]), *words]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"{published} holds a published run, whose `salgen verify` would fail: choose another --out" in line
    assert salgen.verify(published) == []


def test_two_reproductions_do_not_write_one_folder(tmp_path, capsys):
    with sole_writer(tmp_path / "study"):
        assert main(["reproduce", "designed", "--out", str(tmp_path / "study")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path / 'study'} is being written by another salgen process" in line
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize("out", ["nowhere/sheet.png", "a_model.py/sheet.png", "images"])
def test_a_place_that_cannot_be_written_is_named_as_it_was_given(places, out, capsys, monkeypatch):
    monkeypatch.chdir(places["data"].parent)
    assert main(["show", str(places["data"]), "--out", out]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert line.endswith(f"({out})")
