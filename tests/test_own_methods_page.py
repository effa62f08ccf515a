"""The code and the command of docs/own_methods.md, run as a reader would."""

import re
import shlex
import sys
from pathlib import Path
import pytest
from kept_runs import make_data
import salgen
from salgen.cli.main import main
from salgen.evaluation.runs.artifacts.run_record import RunRecord

PAGE = (Path(__file__).parents[1] / "docs" / "own_methods.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:lesion-cnn seed 0 has not learnt")
def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_methods", raising=False)
    make_data(tmp_path).rename("perlin-lesions")
    salgen.train(
        "perlin-lesions", out="my-model/lesion-cnn-seed0", settings={"epochs": 1, "widths": "4,4,4", "hidden": 8}
    )
    module, script = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    Path("my_methods.py").write_text(module)
    found = {}
    exec(script, found)
    methods = {method.call: method for method in RunRecord.read(found["run"] / "run.json").methods}
    assert set(methods) >= {"grad-cam", "mine", "mine squared", "blocks", "finer", "lrp"}
    assert not methods["mine"].signed
    (command,) = re.findall(r"^    salgen (evaluate .*)$", PAGE, re.M)
    assert main([*shlex.split(command), "--metrics", "roc-auc", "--out", "run"]) == 0
    assert {"mine", "mine:power=2"} <= {method.call for method in RunRecord.read(Path("run/run.json")).methods}
