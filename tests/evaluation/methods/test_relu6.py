"""ReLU6: a ReLU with a ceiling, which relevance passes as it passes a ReLU."""

import copy
import pytest
import torch
from torch import nn
from torch.nn import functional
import salgen
from salgen.errors import SalgenError

IMAGES = 4 * torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(1))
TARGETS = [0, 1, 0]
STYLES = {
    "module": nn.ReLU6(),
    "in place": nn.ReLU6(inplace=True),
    "function": functional.relu6,
    "bounds": lambda x: functional.hardtanh(x, 0.0, max_val=6.0),
}


class Network(nn.Module):
    """Some units are off, some between, some at the ceiling, in both layers."""

    def __init__(self, clip=None):
        super().__init__()
        torch.manual_seed(2)
        self.conv1, self.conv2, self.head = nn.Conv2d(1, 6, 3), nn.Conv2d(6, 6, 3), nn.Linear(96, 2)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=1 if parameter.ndim > 2 else 0.1)
        self.clip1, self.clip2 = (copy.deepcopy(clip or nn.ReLU6()) for _ in range(2))

    def forward(self, x):
        return self.head(self.clip2(self.conv2(self.clip1(self.conv1(x)))).flatten(1))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("method", ["guided-backprop", "deconvnet"])
def test_modified_gradients_by_hand(method, style):
    """What comes back is made positive; guided backpropagation stops it where the unit is off or at its ceiling."""
    net = Network()
    signals = [net.conv1(IMAGES)]
    signals.append(net.conv2(net.clip1(signals[0])))
    shares = [share.float().mean() for signal in signals for share in (signal < 0, signal > 6)]
    assert all(0.05 < share < 0.9 for share in shares)
    back = net.head.weight[TARGETS].view_as(signals[1])
    for conv, signal in zip((net.conv2, net.conv1), reversed(signals), strict=True):
        passing = (signal > 0) & (signal < 6) if method == "guided-backprop" else torch.ones_like(signal).bool()
        back = functional.conv_transpose2d(back.clamp(min=0) * passing, conv.weight)
    found = salgen.explain(Network(STYLES[style]), IMAGES, TARGETS, method=method, reduce=None).values
    assert back.abs().max() > 0
    torch.testing.assert_close(found, back.detach(), rtol=1e-4, atol=1e-5)


METHODS = ["deep-taylor:low=0,high=4", "excitation-backprop:layer=clip1", "contrastive-excitation-backprop:layer=clip1"]


@pytest.mark.parametrize("method", [*METHODS, "guided-grad-cam:layer=clip2", "fast-cam:layer=clip2"])
def test_without_a_unit_at_the_ceiling_it_is_a_relu(method):
    found = salgen.explain(Network(), IMAGES / 100, TARGETS, method=method, reduce=None).values
    expected = salgen.explain(Network(nn.ReLU()), IMAGES / 100, TARGETS, method=method, reduce=None)
    assert expected.values.abs().max() > 0
    torch.testing.assert_close(found, expected.values)


def test_patterns_know_no_ceiling():
    with pytest.raises(SalgenError, match="fit_patterns has no rule for ReLU6: above its ceiling a unit fires but"):
        salgen.fit_patterns(Network(), IMAGES)
    patterns = salgen.fit_patterns(Network(nn.ReLU()), IMAGES)
    for method in ("pattern-net", "pattern-attribution"):
        with pytest.raises(SalgenError, match=f"{method} has no rule for ReLU6: above its ceiling"):
            salgen.explain(Network(), IMAGES, 0, method=method, patterns=patterns)
