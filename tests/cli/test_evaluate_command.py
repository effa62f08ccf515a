"""`salgen evaluate`: what the console says."""

from kept_runs import make_data
from salgen.cli.main import main

MODEL = """
from torch import nn
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)).eval()
"""


def test_a_model_that_has_not_learnt_its_task_is_warned_of_once(tmp_path, capsys, monkeypatch):
    (tmp_path / "a_network.py").write_text(MODEL)
    data = make_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["--model", "a_network:net", "-m", "gradient", "--metrics", "roc-auc", "--out", "run", "--redraws", "2"]
    assert main(["evaluate", str(data), *words]) == 0
    captured = capsys.readouterr()
    said = [line for line in (captured.out + captured.err).splitlines() if "its maps mean" in line]
    assert len(said) == 1
    assert said[0].startswith("WARNING: ")
