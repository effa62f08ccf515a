"""PatternNet and PatternAttribution against loops over every connection, and the laws of both."""

import numpy as np
import pytest
import torch
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.patterns import Patterns, fit_patterns
from salgen.evaluation.methods.pattern import project

METHODS = ["pattern-net", "pattern-attribution"]


def raw(net, images, targets, method, patterns, **parameters):
    found = salgen.explain(net, images, targets, method=method, patterns=patterns, reduce=None, **parameters)
    return found.values


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(2)
    net = nn.Sequential(
        *(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten()),
        *(nn.Linear(16, 5), nn.ReLU(), nn.Linear(5, 3)),
    ).double()
    for place in (0, 3, 6, 8):
        nn.init.normal_(net[place].bias, std=0.3)
    return net


@pytest.fixture(scope="module")
def images():
    return torch.from_numpy(np.random.default_rng(5).standard_normal((6, 2, 8, 8))).float()


@pytest.mark.parametrize("method", METHODS)
def test_the_start_and_the_score(network, images, method):
    patterns = fit_patterns(network, images)
    one = raw(network, images, 1, method, patterns, project=False)
    logits = network(images.double()).detach().float()
    started = raw(network, images, 1, method, patterns, project=False, start="logit")
    torch.testing.assert_close(started, one * logits[:, 1].view(-1, 1, 1, 1), rtol=1e-4, atol=1e-5)
    others = logits.clone()
    others[:, 1] = -torch.inf
    rivals = raw(network, images, others.argmax(dim=1), method, patterns, project=False)
    margin = raw(network, images, 1, method, patterns, project=False, score="margin")
    torch.testing.assert_close(margin, one - rivals, rtol=1e-4, atol=1e-5)


class Residual(nn.Module):
    """Its merged weights have length 1 in every unit, so that weights are patterns of their own."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.stem, self.norm = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4, eps=0)
        self.conv, self.head = nn.Conv2d(4, 4, 3, padding=1), nn.Linear(8, 3)
        nn.init.normal_(self.norm.running_mean, std=0.2)
        nn.init.uniform_(self.norm.running_var, 0.5, 2)
        for layer in (self.stem, self.conv, self.head):
            layer.weight.data /= layer.weight.data.flatten(1).norm(dim=1).view(-1, *[1] * (layer.weight.ndim - 1))
        self.stem.weight.data *= self.norm.running_var.sqrt().view(-1, 1, 1, 1)

    def weights(self):
        merged = self.stem.weight / self.norm.running_var.sqrt().view(-1, 1, 1, 1)
        return [merged.detach(), self.conv.weight.detach(), self.head.weight.detach()]

    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        y = torch.relu(x + self.conv(x))
        y = torch.cat([y, nn.functional.max_pool2d(x, 3, 1, 1) * 2], dim=1)
        return self.head(nn.functional.avg_pool2d(y, 2).mean(dim=(2, 3)))


def test_with_weights_for_patterns_it_is_the_gradient(images):
    """Sums, averages, scaling and pools go by the plain gradient, and branches keep their balance."""
    net = Residual().eval()
    own = Patterns(tuple(weight.double() for weight in net.weights()), (0, 0, 0))
    gradient = raw(net, images, 2, "gradient", None)
    torch.testing.assert_close(raw(net, images, 2, "pattern-net", own, project=False), gradient, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(raw(net, images, 2, "pattern-net", own), project(gradient), rtol=1e-4, atol=1e-5)


def test_projection_keeps_a_deep_network_from_overflowing(images):
    torch.manual_seed(0)
    blocks = [layer for _ in range(6) for layer in (nn.Conv2d(2, 2, 3, padding=1, bias=False), nn.ReLU())]
    net = nn.Sequential(*blocks, nn.Flatten(), nn.Linear(128, 2))
    weights = [layer.weight.detach().abs() for layer in net if hasattr(layer, "weight")]
    for layer, weight in zip([layer for layer in net if hasattr(layer, "weight")], weights, strict=True):
        layer.weight.data = weight
    steep = []
    for weight in weights:
        flat = weight.double().flatten(1)
        pattern = flat / flat.pow(2).sum(dim=1, keepdim=True)
        pattern[:, 0] += 1e12
        pattern[:, 1] -= 1e12 * flat[:, 0] / flat[:, 1]
        steep.append(pattern.view_as(weight))
    patterns = Patterns(tuple(steep), (0,) * 7)
    inputs = images.abs() + 0.1
    assert not torch.isfinite(raw(net, inputs, 0, "pattern-net", patterns, project=False)).all()
    found = raw(net, inputs, 0, "pattern-net", patterns)
    assert {weight.dtype for weight in net.parameters()} == {torch.float32}
    assert torch.allclose(found.abs().amax(dim=(1, 2, 3)), torch.ones(6))
    torch.testing.assert_close(found, raw(net.double(), inputs.double(), 0, "pattern-net", patterns))


def test_a_map_of_zeros_stays_zero(images):
    net = nn.Sequential(nn.Conv2d(2, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2))
    nn.init.constant_(net[0].bias, -1e3)
    patterns = fit_patterns(net, images)
    assert patterns.degenerate == (2, 2)
    for method in METHODS:
        assert raw(net, images, 0, method, patterns).count_nonzero() == 0


def test_patterns_of_another_model_are_refused(network, images):
    patterns = fit_patterns(network, images)
    shorter, other = nn.Sequential(nn.Flatten(), nn.Linear(128, 2)), nn.Sequential(*network)
    with pytest.raises(SalgenError, match=r"linear maps .*, and its are \[\(2, 128\)\]; fit patterns"):
        salgen.explain(shorter, images, 0, method="pattern-net", patterns=patterns)
    other[8] = nn.Linear(5, 4).double()
    with pytest.raises(SalgenError, match=r"\(3, 5\)\], and its are .*\(4, 5\)\]"):
        salgen.explain(other, images, 0, method="pattern-net", patterns=patterns)
    other[8], other[3] = network[8], nn.Conv2d(3, 4, 3, stride=2, padding=1).double()
    with pytest.raises(SalgenError, match=": a pattern times its weights is not 1"):
        salgen.explain(other, images, 0, method="pattern-net", patterns=patterns)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_patterns_serve_the_model_in_a_lower_precision(images, precision):
    torch.manual_seed(2)
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 2)).eval()
    patterns = fit_patterns(net.double(), images)
    expected = raw(net, images, 0, "pattern-attribution", patterns)
    found = raw(net.to(precision), images, 0, "pattern-attribution", patterns)
    cosine = torch.nn.functional.cosine_similarity(found.flatten(1), expected.flatten(1))
    assert (cosine > 0.99).all()


def test_weights_that_half_precision_holds_too_are_no_half_network():
    """A pattern that is half a percent off fits the half network alone."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(32, 2)).eval()
    net[1].weight.data = net[1].weight.data.sign()
    images = torch.rand(64, 2, 4, 4)
    patterns = fit_patterns(net, images)
    off = Patterns(tuple(1.005 * pattern for pattern in patterns.by_map), patterns.degenerate)
    assert raw(net.half(), images, 0, "pattern-attribution", off).any()
    with pytest.raises(SalgenError, match="a pattern times its weights is not 1"):
        raw(net.float(), images, 0, "pattern-attribution", off)
