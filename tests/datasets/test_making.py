"""The same bytes however a data set is made, whatever interrupts it; and what is refused."""

import json
import signal
import subprocess
import sys
import time
import pytest
from made_datasets import SUPPORT, contents, made
from make_squares import SAMPLES
from salgen.datasets import making
from salgen.errors import SalgenError

PROGRAM = SUPPORT / "make_squares.py"


def start(out, workers, **options):
    return subprocess.Popen([sys.executable, str(PROGRAM), str(out), str(workers)], **options)


def finish(out, workers):
    """What is there once the same data set was made without a disturbance."""
    return contents(made(out, splits={"train": SAMPLES}, workers=workers))


def temporaries(folder):
    return [path for path in folder.rglob("*") if path.name.endswith(".part")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What an uninterrupted run of the program writes."""
    out = tmp_path_factory.mktemp("whole") / "squares"
    assert start(out, 1).wait() == 0
    return contents(out)


def test_ctrl_c_stops_quickly_and_cleanly(tmp_path, whole):
    out = tmp_path / "squares"
    process = start(out, 2, stderr=subprocess.PIPE, text=True)
    while len(list(out.glob("data/*.parquet"))) < 3 and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "worker.py" not in errors, "only the program's own KeyboardInterrupt, and nothing from the workers"
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert temporaries(out) == []
    assert finish(out, 2) == whole


def test_a_worker_that_dies_is_reported_and_the_rest_can_be_continued(tmp_path, whole, monkeypatch):
    out = tmp_path / "squares"
    program = (
        "import os; from salgen.datasets.execution.worker import *; ray_tasks.attempt = lambda *_: os._exit(7); main()"
    )
    with monkeypatch.context() as patch:
        patch.setattr("salgen.datasets.execution.pool.WORKER", [sys.executable, "-c", program])
        with pytest.raises(SalgenError, match=r"a worker process ended with status 7.*the same command continues it"):
            made(out, splits={"train": SAMPLES}, workers=2)
    assert temporaries(out) == []
    assert finish(out, 1) == whole


def test_a_worker_that_lacks_memory_says_that_and_nothing_else(tmp_path, monkeypatch):
    program = (
        "from salgen.datasets.execution import worker; from salgen.datasets.format import shards; "
        "shards.write_shard = lambda *_: [0] * 2**60; worker.main()"
    )
    monkeypatch.setattr("salgen.datasets.execution.pool.WORKER", [sys.executable, "-c", program])
    with pytest.raises(MemoryError):
        made(tmp_path / "squares", splits={"train": SAMPLES}, workers=2)


def test_a_complete_folder_is_left_alone(folder, capsys, monkeypatch):
    monkeypatch.setattr(making, "describe", None)  # nothing may be prepared or rendered
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert made(folder) == folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert "complete" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("splits", "counts"),
    [
        (None, {"train": 4, "test": 2}),
        ({"train": 7}, {"train": 7}),
        ({"train": 7, "test": None, "train_second": 1}, {"train": 7, "test": 2, "train_second": 1}),
    ],
)
def test_splits_replace_those_of_the_scale_and_parameters_are_laid_over_its_own(tmp_path, splits, counts):
    made(tmp_path / "a", scale="demo", splits=splits, parameters={"bit-depth": "16"})
    spec = json.loads((tmp_path / "a/salgen.json").read_text())["spec"]
    assert spec["splits"] == counts
    assert (spec["parameters"]["side"], spec["bit_depth"]) == (3, 16)


def test_the_log_lies_outside_and_has_a_line_for_each_run(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["salgen", "make", "squares"])
    folder = made(tmp_path / "squares")
    (folder / "data/val-00000-of-00001.parquet").unlink()
    made(folder)
    first, second = map(json.loads, (tmp_path / "squares.log").read_text().splitlines())
    assert (first["command"], first["images"], first["workers"]) == (["salgen", "make", "squares"], 22, 1)
    assert second["images"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": "smal"}, "did you mean 'small'"),
        ({"splits": {"trian": 10}}, "unknown split of squares 'trian': did you mean 'train'"),
        ({"splits": {"test_odd": None}}, "samples of split 'test_odd' = 0"),
        ({"parameters": {"side": 99}}, "no place for the square"),
        ({"parameters": {"fail_at": 0}}, "no place for the square"),
        ({"parameters": {"fail_at": 11}}, "no place for the square in sample 11"),
        ({"parameters": {"fail_at": 11}, "workers": 2}, "no place for the square in sample 11"),
        ({"source": "elsewhere"}, "'elsewhere'"),
    ],
)
def test_a_bad_argument_is_one_line_and_leaves_nothing(tmp_path, arguments, message):
    for out in (tmp_path / "squares", tmp_path):
        with pytest.raises(SalgenError, match=message):
            made(out, **arguments)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"parameters": {"side": 3}}, "side is 4 there and 3 here"),
        ({"parameters": {"image_size": (12, 12)}}, r"image_size is \[12, 16\] there and \[12, 12\] here"),
        ({"splits": {"train": 13, "val": 4, "test": 6}}, "split train is 12 there and 13 here"),
        ({"splits": {"train": 12, "test": 6}}, "split val is 4 there and absent here"),
        ({"twins": False}, "twins is True there and False here"),
    ],
)
def test_another_spec_says_what_differs_and_how_to_go_on(folder, arguments, difference):
    before = contents(folder)
    with pytest.raises(SalgenError, match=difference) as caught:
        made(folder, **arguments)
    assert "choose another OUT, or remove the folder" in str(caught.value)
    assert contents(folder) == before


def test_other_library_versions_do_not_continue_a_part(folder):
    (folder / "data/val-00000-of-00001.parquet").unlink()
    text = (folder / "salgen.json").read_text()
    values = json.loads(text)
    values["libraries"]["pyarrow"] = "1.0"
    (folder / "salgen.json").write_text(json.dumps(values))
    with pytest.raises(SalgenError, match=r"pyarrow is 1\.0 there"):
        made(folder)


def test_a_file_and_a_foreign_folder_are_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    for out, said in ((tmp_path / "file", "is a file"), (tmp_path / "file" / "within", "within: Not a dir")):
        with pytest.raises(SalgenError, match=said):
            made(out)
    with pytest.raises(SalgenError, match="not empty and not a salgen data set"):
        made(tmp_path)
    assert contents(tmp_path) == {"file": b"mine"}
