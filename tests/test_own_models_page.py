"""The README's example of a researcher's own things, and that of docs/own_models.md, run as written."""

import re
import sys
from pathlib import Path
import numpy as np
import pytest
from PIL import Image, ImageDraw
import salgen
from salgen.datasets.reading.reader import open_dataset

ROOT = Path(__file__).parents[1]
NETWORK = """
import torch
from torch import nn
torch.manual_seed(0)
layers = nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
network = nn.Sequential(*layers).eval()
"""


def block(page, words):
    """The page's block of Python that has such words."""
    found = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    (text,) = (code for code in found if words in code)
    return text


@pytest.mark.filterwarnings("ignore::salgen.errors.SalgenWarning")
def test_own_network_method_and_images_stand_in_one_table(tmp_path, monkeypatch, capsys):
    code = block("README.md", "my_project")
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_project", raising=False)
    Path("my_project.py").write_text(NETWORK)
    rng = np.random.default_rng(0)
    for number in range(12):
        kind, (x, y) = ("disc", "box")[number % 2], rng.integers(10, 60, 2).tolist()
        picture = Image.fromarray(rng.integers(0, 90, (96, 96, 3), dtype=np.uint8))
        mask = Image.new("L", picture.size)
        for canvas, colour in ((picture, (250, 240, 90)), (mask, 255)):
            draw = ImageDraw.Draw(canvas)
            (draw.ellipse if kind == "disc" else draw.rectangle)((x, y, x + 24, y + 24), fill=colour)
        for folder, image in (("images", picture), ("masks", mask)):
            Path(folder, kind).mkdir(parents=True, exist_ok=True)
            image.save(Path(folder, kind, f"{number}.png"))
    found = {}
    exec(code, found)
    assert len(open_dataset("my-data", "test")) == 12
    assert {"mine", "grad-cam", "gradient", "rise"} <= {call.partition(":")[0] for call in found["run"].means.index}
    assert Path(found["run"] / "report.html").is_file()
    assert "report.html" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore::salgen.errors.SalgenWarning")
def test_the_page_of_own_models_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    splits, size = {"train": 2, "val": 2, "test": 4}, {"image_size": (64, 64)}
    salgen.make("drawn-figures", "drawn-figures", splits=splits, parameters=size, workers=1)
    found = {}
    exec(block("docs/own_models.md", "resnet18"), found)
    assert {"gradient", "grad-cam"} <= set(found["run"].means.index)
    (model,) = found["run"].record.models
    assert model.name == "ResNet"
