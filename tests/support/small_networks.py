"""Networks small enough to reason about, for several tests."""

import torch
from torch import nn
from torch.nn import functional as F


class Normalise(nn.Module):
    """Pixels less a mean, by a deviation."""

    def __init__(self, mean, deviation):
        super().__init__()
        self.mean, self.deviation = mean, deviation

    def forward(self, pixels):
        return (pixels - self.mean) / self.deviation


class Of(nn.Module):
    """A network that is a function of images."""

    def __init__(self, function):
        super().__init__()
        self.forward = function


def with_statistics(network, std, low=0.5, high=2.0, dense=False):
    """The network with batch norms, and perhaps dense layers, whose statistics and biases do something."""
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(std=std)
            module.running_var.uniform_(low, high)
        if isinstance(module, nn.BatchNorm2d) or (dense and isinstance(module, nn.Linear)):
            nn.init.normal_(module.bias, std=std)
    return network


def batch_sizes(network):
    """The sizes of the batches that the network, or a copy of it, takes from now on."""
    sizes = []

    class Counted(type(network)):
        def forward(self, images):
            sizes.append(len(images))
            return super().forward(images)

    network.__class__ = Counted  # a private copy takes no hooks along
    return sizes


def linear(channels=1, side=8):
    torch.manual_seed(5)
    return nn.Sequential(nn.Flatten(), nn.Linear(channels * side * side, 3))


class Tidy(nn.Module):
    """Every operation a module of its own, and pools without overlap."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(7)  # about half of the hidden units answer to an image
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


class Reused(Tidy):
    """One ReLU and one pool, called at every place."""

    def forward(self, x):
        x = self.pool1(self.relu1(self.conv1(x)))
        x = self.pool1(self.relu1(self.conv2(x)))
        return self.dense2(self.relu1(self.dense1(torch.flatten(x, 1))))


class InPlace(Tidy):
    """One ReLU that overwrites its input."""

    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.pool1(self.relu(self.conv1(x)))
        x = self.pool1(self.relu(self.conv2(x)))
        return self.dense2(F.relu(self.dense1(x.view(x.size(0), -1)), inplace=True))


class Functional(Tidy):
    """Functions and methods of tensors instead of modules."""

    def forward(self, x):
        x = F.max_pool2d(F.relu(F.conv2d(x, self.conv1.weight, self.conv1.bias, padding=1)), 2)
        x = F.dropout(torch.max_pool2d(self.conv2(x).relu(), 2), training=self.training)
        x = torch.relu(F.linear(x.reshape(x.size(0), 16), weight=self.dense1.weight, bias=self.dense1.bias))
        return self.dense2(x)


class InPlaceFunctional(Tidy):
    """Functions that overwrite their input."""

    def forward(self, x):
        x = self.pool1(torch.relu_(self.conv1(x)))
        x = self.pool1(self.conv2(x).relu_())
        return self.dense2(F.relu_(self.dense1(torch.flatten(x, 1))))


def pooled_grid():
    """Two channels to three logits, by a convolution and a grid of 2 x 2 means."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 3)).eval()


class Flawed(nn.Module):
    """A convolution, the mean of each channel and a linear layer, with something between."""

    def __init__(self, flaw):
        super().__init__()
        self.conv, self.head, self.flaw = nn.Conv2d(1, 4, 3), nn.Linear(4, 2), flaw

    def forward(self, x):
        return self.head(self.flaw(self.conv(x)).mean(dim=(2, 3)))


def drops_its_result(x):
    F.relu(x, inplace=True)
    return x


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
