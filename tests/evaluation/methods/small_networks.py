"""Networks small enough to reason about, for several tests."""

import torch
from torch import nn


def linear(channels=1, side=8):
    torch.manual_seed(5)
    return nn.Sequential(nn.Flatten(), nn.Linear(channels * side * side, 3))


class Tidy(nn.Module):
    """Every operation a module of its own, and pools without overlap."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.dense1, self.dense2 = nn.Linear(16, 6), nn.Linear(6, 2)
        self.relu1, self.relu2, self.relu3 = nn.ReLU(), nn.ReLU(), nn.ReLU()
        self.pool1, self.pool2 = nn.MaxPool2d(2), nn.MaxPool2d(2)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.5)

    def forward(self, x):
        x = self.pool1(self.relu1(self.conv1(x)))
        x = self.pool2(self.relu2(self.conv2(x))).flatten(1)
        return self.dense2(self.relu3(self.dense1(x)))


class Pyramid(nn.Module):
    """Two resolutions, then the mean of each channel and a linear layer."""

    def __init__(self, channels=1):
        super().__init__()
        torch.manual_seed(1)
        self.fine = nn.Sequential(nn.Conv2d(channels, 4, 3, padding=1), nn.ReLU())
        self.coarse = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 5, 3, padding=1), nn.BatchNorm2d(5), nn.ReLU())
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        return self.head(self.coarse(self.fine(x)).mean(dim=(2, 3)))


def by_hand():
    """Two layers: the input (1, 2) gives hidden units (1, 2, 0) after the ReLU, and logits (1, -1.5)."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
    net[1].weight.data = torch.tensor([[2.0, -1.0], [1.0, 1.0], [-1.0, 0.0]])
    net[1].bias.data = torch.tensor([1.0, -1.0, 0.0])
    net[3].weight.data = torch.tensor([[3.0, -1.0, 4.0], [-2.0, 1.0, 0.0]])
    net[3].bias.data = torch.tensor([0.0, -1.5])
    return net
