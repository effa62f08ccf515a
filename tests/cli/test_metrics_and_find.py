"""`salgen metrics` and `salgen find`, as a user calls them."""

import json
import shutil
from pathlib import Path
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from kept_runs import STATED
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
        metrics=["pointing-game", "insertion-auc:variant=li2020", "iou:threshold=0.5"],
        settings={"epochs": 2, "widths": "4,4,4", "hidden": 8},
        out=place / "run",
    )
    return data, run


def test_check_says_what_a_metric_does(capsys):
    assert main(["metrics", "check", "m-gt", "edge-correlation"]) == 0
    out = capsys.readouterr().out
    assert "| `m-gt` | falls (1.00 to 0.00) |" in out
    assert "left out, because they explain again, train, or have no direction: edge-correlation" in out


def test_check_says_why_nothing_can_be_checked(capsys):
    assert main(["metrics", "check", "roar", "edge-correlation"]) == 2
    captured = capsys.readouterr()
    assert "roar trains models: it is no function of a given map; edge-correlation has no direction" in captured.err
    assert captured.out == ""


@pytest.fixture
def three(folders, tmp_path):
    """The run, said to be of three data sets, of which the last was scored without `iou`."""
    places = []
    for number in range(3):
        place = tmp_path / f"run{number}"
        place.mkdir()
        record = json.loads((folders[1] / "run.json").read_text())
        record["dataset"]["fingerprint"] = f"{number:064}"
        (place / "run.json").write_text(json.dumps(record))
        scores = pq.read_table(folders[1] / "scores.parquet").to_pylist()
        rows = [row for row in scores if number < 2 or row["metric"] != "iou"]
        pq.write_table(pa.Table.from_pylist(rows), place / "scores.parquet")
        places.append(str(place))
    return places


def test_correlation_takes_three_runs(three, capsys):
    assert main(["metrics", "correlation", three[0]]) == 2
    assert "1 run: a correlation over data sets takes 3 or more" in capsys.readouterr().err
    assert main(["metrics", "correlation", *three]) == 0
    out = capsys.readouterr().out
    assert "pointing-game, insertion-auc:variant=li2020" in out
    assert "n = 3 data sets" in out
    assert "left out, because not all runs have them: metric iou" in out
    assert len({len(line) for line in out.splitlines() if line.startswith("|")}) == 1


def test_correlation_takes_one_run_of_each_data_set(three, capsys):
    assert main(["metrics", "correlation", *three, three[1]]) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert f"{three[1]} and {three[1]} are of one data set" in err


def test_candidates_are_listed_and_drawn(folders, capsys):
    data, run = folders
    limits = ["--confidence", "0", "--localization", "2", "--faithfulness", "-2"]
    assert main(["find", "clever-hans", str(run.path), "-m", "gradient", *limits, "--dataset", str(data)]) == 0
    out = capsys.readouterr().out
    right = int(out.split()[0])
    said = [line for line in out.splitlines() if line.startswith("  test-")]
    assert len(said) == right > 0
    assert "left out" not in out
    assert {line.split()[1] for line in said} <= {"no_lesions", "lesions"}
    assert picture(run / "clever-hans-gradient.png").std() > 0


def test_false_positives_are_those_above_the_limit(folders, capsys):
    data, run = folders
    assert main(["find", "false-positives", str(run.path), "--confidence", "0", "--dataset", str(data)]) == 0
    assert capsys.readouterr().out.startswith("12 found")  # each image has one class that is not its own
    assert picture(run / "false-positives.png").std() > 0
    assert main(["find", "false-positives", str(run.path), "--confidence", "1"]) == 0
    assert capsys.readouterr().out.startswith("0 found")


def test_no_model_is_read_from_a_path_that_the_run_names(folders, capsys, tmp_path):
    data, run = folders
    received = tmp_path / "received"
    shutil.copytree(run, received, ignore=shutil.ignore_patterns("*-seed*"))
    record = json.loads((received / "run.json").read_text())
    record["models"][0]["checkpoint"] = next(Path(run).glob("*-seed*")).as_posix()
    (received / "run.json").write_text(json.dumps(record))
    assert main(["find", "false-positives", str(received), "--confidence", "0", "--dataset", str(data)]) == 2
    assert f"{received} does not hold the weights of lesion-cnn, seed 0" in capsys.readouterr().err


def test_nothing_is_written_into_a_published_run(folders, capsys, tmp_path):
    data, run = folders
    published = salgen.unpack(salgen.publish(run, tmp_path / "run.tar", **STATED), tmp_path / "published")
    assert main(["find", "false-positives", str(published), "--confidence", "0", "--dataset", str(data)]) == 2
    assert f"{published} is published" in capsys.readouterr().err
    assert main(["report", str(published), "--out", str(published / "page.html")]) == 2
    assert f"page.html lies within the run {published}, whose `salgen verify` would fail" in capsys.readouterr().err
    assert main(["report", str(published)]) == 0
    assert (tmp_path / "report.html").is_file()
    assert salgen.verify(published) == []


def test_another_data_set_is_refused(folders, capsys, tmp_path):
    _, run = folders
    other = salgen.make("white-lesions", tmp_path / "other", splits={"test": 4}, parameters=QUICK, seed=1)
    assert main(["find", "false-positives", str(run.path), "--confidence", "0", "--dataset", str(other)]) == 2
    captured = capsys.readouterr()
    assert "is not the data set of" in captured.err
    assert captured.out == ""
    limits = ["--confidence", "0", "--localization", "2", "--faithfulness", "-2"]
    assert main(["find", "clever-hans", str(run.path), "-m", "gradient", *limits, "--dataset", str(tmp_path)]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("call", ["gradiant", "rise:m=3"])
def test_an_unknown_method_is_a_fault_without_a_gallery_too(folders, capsys, call):
    assert main(["find", "false-positives", str(folders[1]), "-m", call]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_samples_without_a_value_are_named(folders, capsys, tmp_path):
    rows = pq.read_table(folders[1] / "scores.parquet").to_pylist()
    for row in rows:
        row["correct"] = True
        if (row["sample_id"], row["metric"]) == (rows[0]["sample_id"], "pointing-game"):
            row |= {"value": float("nan"), "reason": "constant-map"}
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "scores.parquet")
    for name in ("run.json", "predictions.parquet"):
        (tmp_path / name).write_bytes((folders[1] / name).read_bytes())
    assert main(["find", "clever-hans", str(tmp_path), "-m", "gradient"]) == 0
    assert (
        "left out, because pointing-game has no value: 1 of the rightly classified samples" in capsys.readouterr().out
    )


def picture(path):
    from PIL import Image

    return np.asarray(Image.open(path).convert("L"), dtype=float)
