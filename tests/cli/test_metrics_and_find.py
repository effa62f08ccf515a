"""`salgen metrics` and `salgen find`, as a user calls them."""

import numpy as np
import pytest

import salgen
from salgen.cli.main import main

QUICK = {"image_size": (32, 32), "diameter": 6, "slices": 8}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("find")
    splits = {"train": 64, "val": 16, "test": 12}
    data = salgen.make("white-lesions", place / "data", splits=splits, parameters=QUICK)
    run = salgen.evaluate(
        data,
        methods=["gradient"],
        metrics=["pointing-game", "insertion-auc:variant=li2020"],
        settings={"epochs": 2, "widths": "4,4,4", "hidden": 8},
        out=place / "run",
    )
    return data, run


def test_check_says_what_a_metric_does(capsys):
    assert main(["metrics", "check", "m-gt", "edge-correlation"]) == 0
    out = capsys.readouterr().out
    assert "| `m-gt` | falls (1.00 to 0.00) |" in out
    assert "without a direction: edge-correlation" in out


def test_check_names_an_unknown_metric(capsys):
    assert main(["metrics", "check", "m-gd"]) == 2
    assert "did you mean 'm-gt'?" in capsys.readouterr().err


def test_correlation_takes_three_runs(folders, capsys):
    _, run = folders
    assert main(["metrics", "correlation", str(run), str(run)]) == 2
    assert "takes 3 or more" in capsys.readouterr().err
    assert main(["metrics", "correlation", str(run), str(run), str(run)]) == 0
    assert "pointing-game, insertion-auc:variant=li2020" in capsys.readouterr().out


def test_candidates_are_listed_and_drawn(folders, capsys):
    data, run = folders
    limits = ["--confidence", "0", "--localization", "2", "--faithfulness", "-2"]
    assert main(["find", "clever-hans", str(run), "-m", "gradient", *limits, "--data", str(data)]) == 0
    out = capsys.readouterr().out
    right = int(out.split()[0])
    said = [line for line in out.splitlines() if line.startswith("  test-")]
    assert len(said) == right > 0
    assert picture(run / "clever-hans-gradient.png").std() > 0


def test_false_positives_are_those_above_the_limit(folders, capsys):
    data, run = folders
    assert main(["find", "false-positives", str(run), "--confidence", "0", "--data", str(data)]) == 0
    assert capsys.readouterr().out.startswith("12 found")  # each image has one class that is not its own
    assert picture(run / "false-positives.png").std() > 0
    assert main(["find", "false-positives", str(run), "--confidence", "1"]) == 0
    assert capsys.readouterr().out.startswith("0 found")


def test_another_data_set_is_refused(folders, capsys, tmp_path):
    _, run = folders
    other = salgen.make("white-lesions", tmp_path / "other", splits={"test": 4}, parameters=QUICK, seed=1)
    assert main(["find", "false-positives", str(run), "--confidence", "0", "--data", str(other)]) == 2
    assert "is not the data set of" in capsys.readouterr().err


def picture(path):
    from PIL import Image

    return np.asarray(Image.open(path).convert("L"), dtype=float)
