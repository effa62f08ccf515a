"""The composites of LRP against their rules written with matrices."""

import pytest
import torch
from test_relevance_on_architectures import built, noise
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier

BOX = {"low": -1.0, "high": 1.5}


class Small(nn.Module):
    """Two convolutions with batch norm, and two dense layers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.conv1, self.conv2 = nn.Conv2d(1, 3, 3), nn.Conv2d(3, 4, 2)
        self.dense1, self.dense2 = nn.Linear(4 * 3 * 4, 5), nn.Linear(5, 3)

    def forward(self, x):
        x = self.conv2(self.conv1(x).relu()).relu()
        return self.dense2(self.dense1(x.flatten(1)).relu())


def epsilon(weights, bias, x, box):
    return weights * x, bias


def gamma(share):
    """The generalised rule: positive outputs by positive contributions more, negative ones by negative ones."""

    def rule(weights, bias, x, box):
        parts, rest = weights * x, bias
        positive = (parts.sum(dim=1) + rest > 0)[:, None]
        favoured = torch.where(positive, parts.clamp(min=0), parts.clamp(max=0))
        favoured_bias = torch.where(positive[:, 0], rest.clamp(min=0), rest.clamp(max=0))
        return parts + share * favoured, rest + share * favoured_bias

    return rule


def z_plus(weights, bias, x, box):
    return (weights * x).clamp(min=0), bias.clamp(min=0)


def z_minus(weights, bias, x, box):
    return (weights * x).clamp(max=0), bias.clamp(max=0)


def flat(weights, bias, x, box):
    return (weights != 0).to(x), torch.zeros_like(bias)


def z_box(weights, bias, x, box):
    low, high = box
    kept = bias - bias.clamp(min=0) - bias.clamp(max=0)
    return weights * x - weights.clamp(min=0) * low - weights.clamp(max=0) * high, kept


RULES = {  # first convolution, second, dense layers; each a list of rules with weights
    "epsilon-gamma-box": ([(1, z_box)], [(1, gamma(0.25))], [(1, epsilon)]),
    "epsilon-plus-flat": ([(1, flat)], [(1, z_plus)], [(1, epsilon)]),
    "epsilon-alpha2-beta1-flat": ([(1, flat)], [(2, z_plus), (-1, z_minus)], [(1, epsilon)]),
    "attn-lrp:gamma=0.5,dense_gamma=0.1": ([(1, gamma(0.5))], [(1, gamma(0.5))], [(1, gamma(0.1))]),
}


@pytest.mark.parametrize("method", RULES)
def test_equals_the_rules_written_with_matrices(method):
    net, image = Small().double(), torch.rand(1, 1, 6, 7).double() - 0.3
    first, second, dense = RULES[method]
    steps = [
        (lambda x: net.conv1(x.view(1, 1, 6, 7)).flatten(), first),
        (lambda x: net.conv2(x.view(1, 3, 4, 5)).flatten(), second),
        (lambda x: net.dense1(x), dense),
        (lambda x: net.dense2(x), dense),
    ]
    signals = [image.flatten()]
    for number, (step, _) in enumerate(steps):
        signals.append(step(signals[-1]).detach().relu() if number < 3 else step(signals[-1]).detach())
    relevance = torch.tensor([0.0, 1, 0]).double()
    for (step, rules), signal in zip(reversed(steps), reversed(signals[:-1]), strict=True):
        weights = torch.autograd.functional.jacobian(step, signal)
        bias, total = step(torch.zeros_like(signal)).detach(), 0
        for share, rule in rules:
            parts, rest = rule(weights, bias, signal, BOX.values())
            sums = parts.sum(dim=1) + rest
            total = total + share * (parts / (sums + 1e-12 * (sums == 0))[:, None] * relevance[:, None]).sum(dim=0)
        relevance = total
    options = BOX if "box" in method else {}
    found = salgen.explain(net, image, 1, method=method, stabiliser=1e-12, epsilon=1e-12, reduce=None, **options).values
    torch.testing.assert_close(found[0].flatten(), relevance.float(), rtol=1e-4, atol=1e-7)


def test_attn_lrp_without_gamma_is_lrp_z():
    images = noise().double()
    net = built("vgg16").double()
    found = salgen.explain(net, images, 1, method="attn-lrp:gamma=0,dense_gamma=0").values
    assert torch.equal(found, salgen.explain(net, images, 1, method="lrp-z").values)


def test_the_box_is_that_of_black_and_white_or_given():
    net, pixels = Small(), torch.rand(2, 1, 6, 7)

    class Centre(nn.Module):
        def forward(self, x):
            return 2.5 * x - 1

    found = salgen.explain(Classifier(net, Centre()), pixels, 1, method="epsilon-gamma-box").values
    torch.testing.assert_close(
        found, salgen.explain(net, 2.5 * pixels - 1, 1, method="epsilon-gamma-box", **BOX).values
    )
    with pytest.raises(SalgenError, match=r"epsilon-gamma-box needs the bounds .* low= and high=.* epsilon-plus-flat"):
        salgen.explain(net, pixels, 1, method="epsilon-gamma-box")
    with pytest.raises(SalgenError, match=r"low=0\.5, high=None: give both, low below high, or neither"):
        salgen.explain(net, pixels, 1, method="epsilon-gamma-box", low=0.5)
