"""DeepLIFT: against captum called plainly, completeness, and the rescale rule by hand."""

import captum.attr
import pytest
import torch
from small_networks import Functional, InPlace, InPlaceFunctional, Reused, Tidy
from torch import nn
from torch.nn import functional
import salgen


class Overlapping(Tidy):
    """Pools that overlap, are padded and dilated, and end in the middle of a window."""

    def __init__(self):
        super().__init__()
        self.pool1 = nn.MaxPool2d(3, 2, 1, dilation=1)
        self.pool2 = nn.MaxPool2d((2, 3), 2, (1, 1), ceil_mode=True)
        self.dense1 = nn.Linear(4 * 9, 6)


class Adaptive(Tidy):
    """A pool of no window, and a shape that depends on the batch."""

    def __init__(self):
        super().__init__()
        self.pool2 = nn.Sequential(nn.AdaptiveMaxPool2d(2), nn.Tanh())

    def forward(self, x):
        return super().forward(x.view(len(x), 1, 8, 8))


class Apart(Tidy):
    """What captum takes as it is: it loses the rule of a pool whose input is the very output of a ReLU."""

    def forward(self, x):
        x = self.pool1(self.relu1(self.conv1(x)).clone())
        x = self.pool2(self.relu2(self.conv2(x)).clone()).flatten(1)
        return self.dense2(self.relu3(self.dense1(x)))


class Residual(Tidy):
    """The input of a ReLU also goes round it."""

    def __init__(self):
        super().__init__()
        self.norm, self.relu = nn.BatchNorm2d(4), nn.ReLU(inplace=False)
        nn.init.normal_(self.norm.running_mean, std=0.2)
        nn.init.normal_(self.norm.bias, std=0.2)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = self.norm(self.conv1(x))
        y = self.conv2(self.relu(x)) * 2
        y += x
        y = torch.cat([torch.sigmoid(y), functional.elu(x, 0.5)], dim=1)
        return self.head(self.relu(y - 0.3).mean(dim=(2, 3)))


STYLES = [Tidy, Overlapping, Adaptive, Reused, InPlace, Functional, InPlaceFunctional, Residual]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("score", ["logit", "margin"])
def test_deep_lift_is_complete(style, score, images):
    net = style().double().eval()
    found = salgen.explain(net, images, [0, 1, 0], method="deep-lift", score=score, reduce=None).values
    targets = torch.tensor([0, 1, 0])
    gap = (net(images.double()) - net(torch.zeros(1, 1, 8, 8).double())).detach()
    expected = gap.gather(1, targets[:, None])[:, 0]
    if score == "margin":
        expected = expected - gap.gather(1, 1 - targets[:, None])[:, 0]
    assert expected.abs().min() > 1e-3
    torch.testing.assert_close(found.sum(dim=(1, 2, 3)), expected.float(), rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("style", [Tidy, Reused, InPlace, Functional, InPlaceFunctional])
def test_deep_lift_equals_captum_whatever_the_style(style, images):
    peer = captum.attr.DeepLift(Apart().eval())
    expected = torch.cat([peer.attribute(one[None], torch.zeros(1, 1, 8, 8), target=1) for one in images])
    found = salgen.explain(style().eval(), images, 1, method="deep-lift", reduce=None).values
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(found, expected.detach(), rtol=1e-4, atol=1e-6)


def test_flat_images_do_not_leak_into_each_other():
    """Where a pooled value does not differ from black's, captum takes the first sample's gradient for all."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 3, 2), nn.MaxPool2d(2), nn.Sigmoid(), nn.Flatten(), nn.Linear(27, 2))
    net[0].weight.data -= net[0].weight.data.mean(dim=(2, 3), keepdim=True)  # blind to flat images
    images = torch.rand(3, 1, 7, 7)
    images[:, :, 3:] = 0.6
    together = salgen.explain(net, images, 0, method="deep-lift", reduce=None).values
    for image, found in zip(images, together, strict=True):
        alone = salgen.explain(net, image[None], 0, method="deep-lift", reduce=None).values[0]
        torch.testing.assert_close(found, alone, rtol=1e-4, atol=1e-7)


ACTIVATIONS = {
    "relu": (nn.ReLU(inplace=True), functional.relu),
    "silu": (nn.SiLU(inplace=True), functional.silu),
    "gelu": (nn.GELU(), functional.gelu),
    "gelu by tanh": (nn.GELU("tanh"), lambda x: functional.gelu(x, approximate="tanh")),
    "hardswish": (nn.Hardswish(), functional.hardswish),
    "hardsigmoid": (nn.Hardsigmoid(), functional.hardsigmoid),
    "mish": (nn.Mish(), functional.mish),
    "selu": (nn.SELU(), functional.selu),
    "relu6": (nn.ReLU6(inplace=True), functional.relu6),
    "exp": (torch.exp, lambda x: x.exp()),
    "bounds": (nn.Hardtanh(0.0, 6.0), lambda x: functional.hardtanh(x, 0.0, max_val=6.0)),
}


@pytest.mark.parametrize("spelling", [0, 1])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_take_the_rescale_rule(name, spelling, images):
    """By hand on one hidden layer: weights times the change of the activation by that of its input."""

    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.dense, self.head, self.act = nn.Linear(64, 20), nn.Linear(20, 2), ACTIVATIONS[name][spelling]

        def forward(self, x):
            return self.head(self.act(20 * self.dense(x.flatten(1))))

    net = Hidden().double()
    found = salgen.explain(net, images, 1, method="deep-lift", reduce=None).values
    inputs, act = images.double().flatten(1), ACTIVATIONS[name][1]
    before, base = 20 * net.dense(inputs), 20 * net.dense.bias
    multipliers = net.head.weight[1] * (act(before) - act(base)) / (before - base)
    expected = (multipliers @ (20 * net.dense.weight) * inputs).detach()
    torch.testing.assert_close(found, expected.view_as(found).float(), rtol=1e-4, atol=1e-6)
