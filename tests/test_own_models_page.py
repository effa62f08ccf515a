"""The README's example of a researcher's own things, and that of docs/own_models.md, run as written."""

import re
import sys
from pathlib import Path
import numpy as np
import pytest
from PIL import Image, ImageDraw
import salgen

ROOT = Path(__file__).parents[1]
PROJECT = """
import torch
from torch import nn
torch.manual_seed(0)
layers = nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
network = nn.Sequential(*layers).eval()

def mine(model, inputs, targets):
    return inputs
"""

MARKED = """
images, masks = torch.rand(3, 3, 16, 16), torch.zeros(3, 16, 16, dtype=bool)
masks[:, 4:9, 4:9] = True
"""


def block(page, words):
    """The page's block of Python that has such words."""
    found = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    (text,) = (code for code in found if words in code)
    return text


@pytest.mark.filterwarnings("ignore::salgen.errors.SalgenWarning")
def test_a_method_is_chosen_for_a_network(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    (tmp_path / "my_models.py").write_text(PROJECT + MARKED)
    found = {}
    exec(block("README.md", "salgen.choose"), found)
    assert capsys.readouterr().out.startswith(f"For this network take {found['choice'].method}: average-precision ")
    assert found["maps"].values.shape == (3, 16, 16)


@pytest.mark.filterwarnings("ignore::salgen.errors.SalgenWarning")
def test_own_network_method_and_images_stand_in_one_table(tmp_path, monkeypatch):
    code = block("README.md", "my_project")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_project", raising=False)
    Path("my_project.py").write_text(PROJECT)
    rng = np.random.default_rng(0)
    for number in range(12):
        kind, (x, y) = ("disc", "box")[number % 2], rng.integers(10, 60, 2).tolist()
        picture = Image.fromarray(rng.integers(0, 90, (96, 96, 3), dtype=np.uint8))
        mask = Image.new("L", picture.size)
        for canvas, colour in ((picture, (250, 240, 90)), (mask, 255)):
            draw = ImageDraw.Draw(canvas)
            (draw.ellipse if kind == "disc" else draw.rectangle)((x, y, x + 24, y + 24), fill=colour)
        for folder, image in (("photos", picture), ("masks", mask)):
            Path(folder, kind).mkdir(parents=True, exist_ok=True)
            image.save(Path(folder, kind, f"{number}.png"))
    found = {"salgen": salgen}
    exec(code, found)
    dataset = salgen.load("data", "test")
    assert len(dataset) == 12
    assert {"mine", "grad-cam", "ig"} <= set(found["run"].means.index)
    images = np.stack([sample["image"] for sample in dataset[:2]])
    found |= {"images": images, "targets": [0, 1], "masks": np.stack([sample["mask"] for sample in dataset[:2]])}
    exec(block("README.md", "salgen.explain"), found)
    assert found["maps"]["grad-cam"].values.shape == images[:, 0].shape


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
