"""`python -m benchmarks.gpu`: all parts at small sizes on the processor, and what is kept of a part that is cut off."""

import json
import math
import time
from types import SimpleNamespace
import pytest
import torch
from torch.autograd import DeviceType
from benchmarks.gpu import __main__ as command
from benchmarks.gpu import campaign, measuring
from benchmarks.gpu.campaign import LEFT, NOT_RUN, Bench, run_part
from benchmarks.gpu.reproduction import MRI, PERLIN, SETTINGS, UNFINISHED, budding2021, made, progress_of
from benchmarks.processes import within
from salgen.evaluation.training import training, training_state
from salgen.registry import METHODS

CPU = torch.device("cpu")
RATES = ("images/s", "maps/s", "peer, images/s", "salgen over peer", "TFLOP/s", "of the matrix rate", "seconds")


def bench_in(folder, seconds=600.0):
    return Bench(CPU, True, folder, time.monotonic() + seconds)


def measured(folder, part, *options):
    """The rows of a part by step, as the command writes them."""
    places = ["--out", str(folder / "out"), "--work", str(folder / "work")]
    command.main([part, "--device", "cpu", "--small", *places, *options])
    record = json.loads((folder / "out" / "cpu" / f"{part}.json").read_text())
    assert (record["on"], record["small"]) == ("cpu", True)
    return record["rows"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.torture if "resnet" in part else ()) for part in command.PARTS]
)
def test_a_part_runs_small_and_writes_what_it_measured(part, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for module in ("reproduction", "training", "worlds"):  # in this process, as another takes long to begin
        monkeypatch.setattr(f"benchmarks.gpu.{module}.within", lambda _seconds, work, *arguments: work(*arguments))
    rows = measured(tmp_path, part)
    table = capsys.readouterr().out
    for step, of_step in rows.items():
        assert f"| {step} |" in table
        assert not any(LEFT in row for row in of_step), of_step
        for row in of_step:
            assert row.get("peak, GB") is None, "only a GPU's is measured"
            assert all(math.isfinite(row[rate]) and row[rate] > 0 for rate in RATES if rate in row)
            if "salgen over peer" in row:
                assert row["salgen over peer"] == pytest.approx(row["images/s"] / row["peer, images/s"])
    if part.startswith("methods"):
        (left_out,) = rows["not defined for it"]
        named = {call.partition(":")[0] for call in [*rows, *left_out["note"].split(", ")]}
        assert named >= set(METHODS.names())
        assert {row.get("peer") for of_step in rows.values() for row in of_step} == {None, "captum", "pytorch-grad-cam"}
        failed = [call for call, of_step in rows.items() for row in of_step if "failed" in row.get("note", "")]
        assert failed == (["deep-lift"] if part == "methods-resnet50" else [])  # captum takes no ReLU used twice
    if part == "worlds":
        assert all(row["above 0.001"] == 0 < row["scores"] for (row,) in rows.values()), "as published"
    if part == "budding2021":
        whole, *stages = rows["end to end"]
        assert whole["seconds"] > sum(row["seconds"] for row in stages)
        assert len(stages) == 4


@pytest.mark.parametrize("part", command.PARTS)
def test_a_part_without_time_says_of_each_step_that_it_was_not_run(part, tmp_path, capsys):
    rows = measured(tmp_path, part, "--minutes", "0")
    assert len(rows) > 1
    assert all(of_step == [{LEFT: NOT_RUN}] for of_step in rows.values())
    assert capsys.readouterr().out.count(NOT_RUN) == len(rows)


def test_a_part_goes_on_with_the_steps_that_are_left(tmp_path, monkeypatch):
    done = []

    class OfTwoSteps(Bench):
        seconds_left = property(lambda self: 2 - len(done))

    def step(name, answer):
        def measure():
            done.append(name)
            if isinstance(answer, Exception):
                raise answer
            return [answer]

        return measure

    def rows_of(steps, bench=None):
        run_part("some", steps, bench or bench_in(tmp_path), tmp_path)
        return json.loads((tmp_path / "some.json").read_text())["rows"]

    answers = {"first": {"images/s": 2.0}, "broken": ValueError("no\nluck"), "last": {"images/s": 4.0}}
    steps = {name: step(name, answer) for name, answer in answers.items()}
    assert rows_of(steps, OfTwoSteps(CPU, True, tmp_path, 0.0)) == {
        "first": [{"images/s": 2.0}],
        "broken": [{LEFT: "failed: ValueError: no"}],
        "last": [{LEFT: NOT_RUN}],
    }
    steps["broken"] = step("broken", {"images/s": 3.0})
    assert [row["images/s"] for (row,) in rows_of(steps).values()] == [2, 3, 4]
    assert done == ["first", "broken", "broken", "last"]
    monkeypatch.setattr(campaign, "LIBRARIES", ("torch",))
    rows_of(steps)
    assert done[4:] == ["first", "broken", "last"], "of other versions, so begun anew"


def test_results_are_of_a_gpu_at_full_size_only(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "RESULTS", tmp_path)
    assert campaign.results_text() == "It has not run on a GPU yet."
    run_part("some", {"step": lambda: [{"images/s": 12345.6, "note": "a|b"}, {"share": 0.1234}]}, bench_in(tmp_path),
             tmp_path / "cpu")  # fmt: skip
    assert campaign.results_text() == "It has not run on a GPU yet."
    file = tmp_path / "cpu" / "some.json"
    record = json.loads(file.read_text()) | {"on": "cuda", "device": "Some GPU", "small": False, "date": "2026-01-02"}
    file.write_text(json.dumps(record))
    text = campaign.results_text()
    assert "### some, Some GPU, 2026-01-02" in text
    assert "| step | images/s | share | note |\n| --- | --- | --- | --- |\n| step | 12,346 |  | a/b |" in text
    assert "| step |  | 0.123 |  |" in text


def test_a_training_that_is_cut_off_shows_how_far_it_came(tmp_path, monkeypatch):
    class CutOffError(Exception):
        pass

    def is_over(history, settings):
        if history:
            raise CutOffError
        return False

    data = made(PERLIN, bench_in(tmp_path))
    assert progress_of(tmp_path / "nothing", data) == {LEFT: UNFINISHED}
    monkeypatch.setattr(training_state, "is_over", is_over)
    with pytest.raises(CutOffError):
        training.train(data, tmp_path / "trained", scale="full", settings={**SETTINGS, "epochs": 2})
    row = progress_of(tmp_path / "trained", data)
    assert (row["epochs"], row[LEFT]) == (1, UNFINISHED)
    assert row["images/s"] > 32 / row["seconds"] > 0, "validation counts among the seconds only"


def test_a_reproduction_that_is_cut_off_counts_the_seconds_of_all_calls(tmp_path):
    end_to_end = budding2021(bench_in(tmp_path, seconds=-1.0))["end to end"]
    (first, *_), (second, *stages) = end_to_end(), end_to_end()
    assert second["seconds"] > first["seconds"] > 0
    assert second["note"].startswith("calls: 2; goal: under 10 minutes")
    assert {row[LEFT] for row in (first, second, *stages)} == {UNFINISHED}
    assert [row["step"] for row in stages] == [f"of it, train {name} seed 0" for name in (PERLIN, MRI)]


def test_work_in_a_process_is_answered_killed_or_fails():
    assert within(60, math.sqrt, 4.0) == 2
    assert within(0.0, time.sleep, 3600) is None
    with pytest.raises(RuntimeError, match="sqrt failed in its process"):
        within(60, math.sqrt, -1.0)


def test_a_gpu_waits_while_no_kernel_runs(monkeypatch):
    def event(kind, seconds, annotation=False):
        span = SimpleNamespace(elapsed_us=lambda: seconds * 1e6)
        return SimpleNamespace(device_type=kind, time_range=span, is_user_annotation=annotation)

    class Profile:
        def __init__(self, activities):
            pass

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda *_: None  # noqa: E731

        def events(self):
            return [event(DeviceType.CUDA, 0.2), event(DeviceType.CUDA, 0.3), event(DeviceType.CUDA, 2, True),
                    event(DeviceType.CPU, 9)]  # fmt: skip

    monkeypatch.setattr(measuring, "profile", Profile)
    monkeypatch.setattr(measuring, "seconds", lambda run, device: 2.0)
    monkeypatch.setattr(measuring, "wait", lambda device: None)
    assert measuring.share_waited(lambda: None, torch.device("cuda")) == pytest.approx(0.75)
    assert measuring.share_waited(lambda: None, CPU) is None


def test_utilisation_is_what_nvidia_smi_prints(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 100\necho 40\necho '[N/A]'\ntouch $0.told\nexec sleep 3600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with measuring.utilisation(torch.device("cuda")) as shares:
        while not program.with_name("nvidia-smi.told").exists():
            time.sleep(0.01)
    assert shares == [1.0, 0.4]
    with measuring.utilisation(CPU) as shares:
        pass
    assert shares == []


def test_a_part_that_there_is_not_and_a_missing_gpu_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="no CUDA device here: use --device cpu --small for a trial"):
        command.main(["metrics"])
    with pytest.raises(SystemExit):
        command.main(["metric"])
    assert "invalid choice: 'metric'" in capsys.readouterr().err
    command.main(["--out", str(tmp_path)])
    assert capsys.readouterr().out.startswith("nothing is measured yet in")
