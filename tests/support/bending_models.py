"""Two models in a file, each wrong on images that are darker than a level, whatever else the network sees."""

from pathlib import Path

MODELS = """
import torch
from torch import nn


class Bend(nn.Module):
    def __init__(self, seed, level):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.last = nn.Linear(4, 2)
        with torch.no_grad():
            for number, weights in enumerate(self.parameters()):
                generator = torch.Generator().manual_seed(10 * seed + number)
                weights.copy_({scale} * torch.randn(weights.shape, generator=generator))
        self.level = level

    def forward(self, images):
        found = {gain} * self.last(torch.relu(self.first(images)).mean(dim=(2, 3)))
        push = 10 * torch.sign(images.mean(dim=(1, 2, 3)) - self.level)
        return found + torch.stack([-push, push], dim=1)


def first():
    return Bend(*{first})


def second():
    return Bend(*{second})
"""


def write_models(file: Path, first, second, scale=1.0, gain=1.0):
    """Write the models' module, and return the texts that stand for them; each has a seed and a level."""
    file.write_text(MODELS.format(first=first, second=second, scale=scale, gain=gain))
    return f"{file.stem}:first", f"{file.stem}:second"
