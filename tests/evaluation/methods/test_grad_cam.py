import pytest
import torch
from torch import nn
import salgen
from salgen.errors import SalgenError


class Network(nn.Module):
    """Two channels (the image, its negative), rectified and averaged, then a dense layer."""

    def __init__(self, in_place=False):
        super().__init__()
        self.stem = nn.Conv2d(1, 2, 1, bias=False)
        self.stem.weight.data = torch.tensor([1.0, -1.0]).view(2, 1, 1, 1)
        self.relu = nn.ReLU(inplace=in_place)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.unused = nn.Conv2d(1, 1, 1)
        self.head = nn.Linear(2, 2, bias=False)
        self.head.weight.data = torch.tensor([[4.0, 8.0], [-4.0, 4.0]])

    def forward(self, x):
        return self.head(self.pool(self.relu(self.stem(x))).flatten(1))


IMAGE = torch.tensor([[1.0, -2.0], [0.0, 3.0]]).view(1, 1, 2, 2)


@pytest.mark.parametrize(("target", "expected"), [(0, [[1.0, 4.0], [0.0, 3.0]]), (1, [[0.0, 2.0], [0.0, 0.0]])])
def test_by_hand(target, expected):
    """Weights are the head's over four pixels: (1, 2), and (-1, 1) for the second class, rectified."""
    found = salgen.explain(Network(), IMAGE, target, method="grad-cam", layer="relu")
    torch.testing.assert_close(found.values[0], torch.tensor(expected))
    assert not found.signed


def test_a_layer_before_an_in_place_relu_is_seen_before_it():
    for in_place in (False, True):
        found = salgen.explain(Network(in_place), IMAGE, 1, method="grad-cam", layer="stem")
        # gradients: -1 where the image is positive (one half), 1 where its negative is (one quarter)
        torch.testing.assert_close(found.values[0], (-0.5 * IMAGE - 0.25 * IMAGE)[0, 0].clamp(min=0))


def test_faults_name_the_layer():
    with pytest.raises(SalgenError, match="unknown layer 'rleu': did you mean 'relu'"):
        salgen.explain(Network(), IMAGE, 0, method="grad-cam", layer="rleu")
    with pytest.raises(SalgenError, match="'unused' does not run"):
        salgen.explain(Network(), IMAGE, 0, method="grad-cam", layer="unused")
    with pytest.raises(SalgenError, match=r"'head' gives \(1, 2\), which has no known axes .*, such as 'relu'"):
        salgen.explain(Network(), IMAGE, 0, method="grad-cam", layer="head")
    with pytest.raises(SalgenError, match="no layer whose numbers have a place in the image"):
        salgen.explain(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)), IMAGE, 0, method="grad-cam")
