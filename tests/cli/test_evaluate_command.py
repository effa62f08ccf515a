"""`salgen evaluate`: what the console says."""

from kept_runs import make_data
from own_modules import SMALL_DETECTOR, write_modules
from salgen.cli.main import main


def test_a_model_that_has_not_learnt_its_task_is_warned_of_once(tmp_path, capsys, monkeypatch):
    write_modules(tmp_path, monkeypatch, networks=SMALL_DETECTOR.format("ReLU"))
    data = make_data(tmp_path)
    words = ["--model", "networks:detector", "-m", "gradient", "--metrics", "roc-auc", "--out", "run", "--redraws", "2"]
    assert main(["evaluate", str(data), *words]) == 0
    captured = capsys.readouterr()
    said = [line for line in (captured.out + captured.err).splitlines() if "its maps mean" in line]
    assert len(said) == 1
    assert said[0].startswith("WARNING: ")
