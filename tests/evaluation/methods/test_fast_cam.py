import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from small_networks import Pyramid
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.methods.fast_cam import gamma_fit, smoe_scale, squashed
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace
from salgen.registry import MODELS

TARGETS = [0, 1, 2]


def slow_squashed_smoe(activations):
    """One image's layer (channels, height, width), by the paper's formulas and the authors' constants."""
    channels, height, width = activations.shape
    scale = np.zeros((height, width))
    for i in range(height):
        for j in range(width):
            x = [float(activations[k, i, j]) + 1e-7 for k in range(channels)]
            mean = sum(x) / channels
            scale[i, j] = mean * (np.log2(mean) - sum(np.log2(v) for v in x) / channels)
    shifted = scale - scale.min() + 1e-7
    fitted = shifted + 1e-7
    s = np.log(fitted.mean()) - np.log(fitted).mean()
    k = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(10):
        k -= (np.log(k) - special.digamma(k) - s) / (1 / k - special.polygamma(1, k))
    theta = fitted.mean() / k
    return np.array([[special.gammainc(k, shifted[i, j] / theta) for j in range(width)] for i in range(height)])


def slow_class_map(cam, activations, weights):
    """One image's class activation map at the layer's resolution, where a channel's gradient is the same everywhere."""
    total = np.zeros(activations.shape[1:])
    for channel, weight in zip(activations.numpy().astype(np.float64), weights.tolist(), strict=True):
        gradient = weight / channel.size
        share = gradient**2 / (2 * gradient**2 + channel.sum() * gradient**3 + 1e-6)
        total += channel * (gradient if cam == "grad-cam" else channel.size * share * max(gradient, 0))
    return np.maximum(total, 0)


def enlarged(values, size):
    values = torch.as_tensor(np.stack(values)).float().view(len(values), 1, *values[0].shape)
    return nn.functional.interpolate(values, size=size, mode="bilinear", align_corners=False)[:, 0]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(("method", "cam"), [("fast-cam", "grad-cam"), ("fast-cam++", "grad-cam++")])
@pytest.mark.parametrize("weights", [None, (0.18, 0.72)])
def test_equals_the_slow_transcription(method, cam, channels, weights):
    net = Pyramid(channels).eval()
    images = torch.rand(3, channels, 8, 10, generator=torch.Generator().manual_seed(0)) * 2 - 1
    first = net.fine(images).detach()
    second = net.coarse(first).detach()
    share = [w / sum(weights or (1, 1)) for w in weights or (1, 1)]
    expected = sum(
        w * enlarged([slow_squashed_smoe(a.numpy()) for a in layer], (8, 10))
        for w, layer in zip(share, (first, second), strict=True)
    )
    maps = [slow_class_map(cam, *each) for each in zip(second, net.head.weight.detach()[TARGETS], strict=True)]
    for k, where in enumerate(maps):
        spread = where.max() - where.min()
        expected[k] *= enlarged([(where - where.min()) / (spread or 1)], (8, 10))[0]
    given_weights = {} if weights is None else {"weights": weights}
    found = salgen.explain(net, images, TARGETS, method=method, layer="coarse", **given_weights)
    assert expected.max() > 0.2
    torch.testing.assert_close(found.values, expected, rtol=1e-3, atol=1e-5)
    assert found.native_resolution == (8, 10)
    named = salgen.explain(net, images, TARGETS, method=method, layer="coarse", layers="fine+coarse", **given_weights)
    assert torch.equal(named.values, found.values)


@given(shape=st.floats(0.2, 15), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 1000))
def test_the_gamma_fit_is_the_likeliest(shape, scale, seed):
    values = np.random.default_rng(seed).gamma(shape, scale, (1, 200)) + 1e-12 * scale
    found_shape, found_scale = gamma_fit(torch.from_numpy(values))
    expected_shape, _, expected_scale = stats.gamma.fit(values, floc=0)
    assert float(found_shape) == pytest.approx(expected_shape, rel=1e-4)
    assert float(found_scale) == pytest.approx(expected_scale, rel=1e-4)


def test_differences_that_are_rounding_in_float32_give_zeros():
    pattern = torch.linspace(0, 1, 12, dtype=torch.float64).reshape(1, 1, 3, 4)
    assert float(squashed(1e6 + 0.1 * pattern).abs().max()) == 0
    assert float(squashed(1e6 + 10 * pattern).max()) > 0.5


@pytest.mark.parametrize("value", [0.0, 0.25, 1e6])
def test_equal_channels_and_constant_layers_give_zeros(value):
    equal = torch.rand(2, 1, 3, 4).expand(2, 5, 3, 4)
    assert float(smoe_scale(equal).abs().max()) < 1e-12
    constant = torch.full((2, 5, 3, 4), value) * torch.rand(1, 5, 1, 1)
    assert torch.equal(squashed(smoe_scale(constant)), torch.zeros(2, 1, 3, 4).double())


STAGES = {
    "resnet18": ("relu", "layer1", "layer2", "layer3", "layer4"),
    "vgg16": tuple(f"features.{n}" for n in (3, 8, 15, 22, 29)),
    "lesion-cnn": ("block1.relu2", "block2.relu2"),
    "scnn": ("block1.relu", "block2.relu", "block3.relu", "block4.relu"),
}


@pytest.mark.parametrize("name", STAGES)
def test_the_default_layers_are_the_papers(name):
    network, image = MODELS.create(name, MODELS.load(name).quick).build(1, 2, (64, 64)), torch.rand(1, 1, 64, 64)
    assert NetworkTrace.of(ModelView.of(network), image).stages == STAGES[name]
    assert salgen.explain(network, image, 0, method="fast-cam").values.shape == (1, 64, 64)


def test_a_stage_is_what_everything_after_depends_on():
    """A rectified map that a shortcut goes around is none; a function at a module's end is as good as a module."""

    class Block(nn.Module):
        def __init__(self, stride):
            super().__init__()
            self.inner, self.relu = nn.Conv2d(2, 2, 1), nn.ReLU(inplace=True)
            self.outer, self.shortcut = nn.Conv2d(2, 2, 3, stride, 1), nn.Conv2d(2, 2, 1, stride)

        def forward(self, x):
            return torch.relu(self.outer(self.relu(self.inner(x))) + self.shortcut(x))

    net = nn.Sequential(Block(1), Block(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2))
    layout = NetworkTrace.of(ModelView.of(net), torch.rand(1, 2, 8, 8))
    assert layout.stages == ("0", "1")
    assert layout.pixels("1") == 16


@pytest.mark.parametrize("method", ["fast-cam", "fast-cam++"])
@pytest.mark.parametrize("side", [1, 3])
def test_a_constant_class_map_gives_exactly_zero(method, side):
    """The layer has one pixel, or pixels that differ by rounding: nothing to scale up."""

    class Flat(Pyramid):
        def __init__(self):
            super().__init__()
            self.end = nn.ReLU()

        def forward(self, x):
            x = self.coarse[1](self.fine(x))
            rounding = 1 + 1e-7 * torch.arange(side * side).view(side, side)
            mean = nn.functional.interpolate(x.mean(dim=(2, 3), keepdim=True), (side, side))
            last = self.end(mean.exp() * rounding)
            return self.head(last.mean(dim=(2, 3)))

    net = Flat()
    net.head.weight.data.abs_()
    images = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    at = {"layer": "end", "reduce": None}
    assert salgen.explain(net, images, 0, method="grad-cam", **at).values.min() > 0
    found = salgen.explain(net, images, 0, method=method, layers="fine", **at).values
    assert torch.equal(found, torch.zeros(2, 1, 8, 8))


FAULTS = [
    ({"layers": "fine+coarse.1"}, "layer 'coarse.1' gives negative ones: choose layers that end in a ReLU"),
    ({"layers": "fine+relu3"}, "unknown layer 'relu3'"),
    ({"layers": "fine+head"}, r"'head' gives \(1, 3\), which has no known axes"),
    ({"weights": (1, 2, 3)}, r"weights = 1,2,3: must be 2, one for each of fine\+coarse"),
    ({"weights": (0, 0)}, "not all 0"),
]


@pytest.mark.parametrize(("options", "words"), FAULTS)
def test_faults_are_said_before_any_work(options, words):
    with pytest.raises(SalgenError, match=words):
        salgen.explain(Pyramid(), torch.rand(3, 1, 8, 8) * 2 - 1, 0, method="fast-cam", **options)
