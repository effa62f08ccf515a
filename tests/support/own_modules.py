"""Modules of the user's own in the working directory."""

import sys

SMALL_DETECTOR = """
import torch
from torch import nn

def detector():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.{}(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 2)).eval()
"""


def write_modules(folder, monkeypatch, **texts):
    """Write modules by their names, which are imported anew, into the folder, which becomes the working directory."""
    monkeypatch.chdir(folder)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder
