"""`salgen explain`: a figure or arrays of one's own pictures."""

import numpy as np
import pytest
import torch
from PIL import Image
import salgen
from salgen.cli.main import main

MODELS = """
import torch
from torch import nn
from salgen.evaluation.models.classifier import Classifier

def of(channels):
    torch.manual_seed(0)
    layers = nn.Conv2d(channels, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)
    return Classifier(nn.Sequential(*layers))

colour, grey = (lambda: of(3)), (lambda: of(1))
"""


@pytest.fixture
def explain(tmp_path, monkeypatch, capsys):
    """Run the command on two pictures of different sizes; its exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "explained_models.py").write_text(MODELS)
    random = np.random.default_rng(0)
    for name, size in {"a.png": (12, 16, 3), "b.png": (20, 10, 3), "grey.png": (9, 9)}.items():
        Image.fromarray(random.integers(256, size=size, dtype=np.uint8)).save(tmp_path / name)

    def run(*words):
        status = main(["explain", *words])
        return status, *capsys.readouterr()

    return run


CALLS = ["-m", "gradient", "-m", "grad-cam:layer=0"]


def test_a_figure_has_a_row_for_each_picture(explain):
    status, out, _ = explain("a.png", "b.png", "--model", "explained_models:colour", *CALLS, "--classes", "x,y,z")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == ["a.png:", "b.png:", "maps:"]
    width, height = Image.open("maps.png").size
    assert (width, height) == (990, 690)  # three columns, two rows


@pytest.mark.parametrize(("target", "number"), [("pred", None), ("2", 2), ("y", 1)])
def test_arrays_are_those_of_python(explain, target, number):
    model = ["--model", "explained_models:colour", "--target", target, "--classes", "x,y,z", "--out", "maps.npz"]
    status, out, _ = explain("a.png", "b.png", *model, *CALLS)
    assert status == 0
    found = np.load("maps.npz")
    import explained_models

    for line, name in zip(out.splitlines(), ("a.png", "b.png"), strict=False):
        image = np.asarray(Image.open(name), dtype=np.float32).transpose(2, 0, 1)[None] / 255
        network = explained_models.colour()
        for call in ("gradient", "grad-cam:layer=0"):
            expected = salgen.explain(network, image, number, method=call).values[0]
            np.testing.assert_array_equal(found[f"{call}/{name}"], expected)
        shares = network(torch.from_numpy(image)).softmax(dim=1)[0]
        explained = int(shares.argmax()) if number is None else number
        assert line == f"{name}: class {explained} ({'xyz'[explained]}), probability {float(shares[explained]):.3f}"


def test_a_stop_keeps_the_arrays_of_the_pictures_before_it(explain):
    status, _, error = explain(
        "a.png", "missing.png", "--model", "explained_models:colour", *CALLS, "--out", "maps.npz"
    )
    assert (status, error.count("\n")) == (2, 1)
    assert sorted(np.load("maps.npz")) == ["grad-cam:layer=0/a.png", "gradient/a.png"]


def test_grey_pictures_fit_a_grey_network(explain):
    assert explain("grey.png", "--model", "explained_models:grey", *CALLS)[0] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "lesion-cnn", *CALLS], "model lesion-cnn has no weights without a data set: give a checkpoint's"),
        (["--model", "lesion-cn", *CALLS], "unknown model 'lesion-cn': did you mean 'lesion-cnn'"),
        (["--model", "explained_models:grey", *CALLS], "the network takes 1 channel, the images have 3"),
        (["--model", "explained_models:colour"], "no method was chosen"),
        (["--model", "explained_models:colour", *CALLS, "--out", "maps.txt"], "ending in .png, .pdf, .svg or .npz"),
        (["--model", "explained_models:colour", *CALLS, "--target", "w", "--classes", "x,y,z"], "unknown class 'w'"),
        (["--model", "explained_models:colour", *CALLS, "--target", "3"], "target 3: the model has 3 classes"),
        (["--model", "explained_models:colour", *CALLS, "--classes", "x"], "--classes has 1 names, and the model 3"),
        (["--model", "explained_models:colour", *CALLS, "a.png"], "several images are called a.png"),
        (["--model", "explained_models:colour", *CALLS, "c.png"], "c.png"),
    ],
)
def test_what_is_wrong_is_one_line(explain, words, says, tmp_path):
    status, _, error = explain("a.png", *words)
    assert (status, error.count("\n")) == (2, 1)
    assert says in error
    assert not list(tmp_path.glob("maps*"))
