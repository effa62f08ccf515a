"""The CAM family a second time, slowly, from the papers."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
import salgen
from salgen.evaluation.methods.eigen_cam import aligned, principal_component
from salgen.seeding import Stream

TARGETS = torch.tensor([0, 2, 1, 0])


class Plain(nn.Module):
    """Convolutions, a grid of pooled values and two dense layers, so that gradients vary in space."""

    def __init__(self, channels):
        super().__init__()
        torch.manual_seed(channels)
        self.conv1, self.relu1, self.pool = nn.Conv2d(channels, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        self.conv2, self.relu2 = nn.Conv2d(4, 6, 3, padding=1), nn.ReLU()
        self.dense1, self.relu3, self.dense2 = nn.Linear(6 * 20, 8), nn.ReLU(), nn.Linear(8, 3)

    def features(self, x):
        return self.relu2(self.conv2(self.pool(self.relu1(self.conv1(x)))))

    def forward(self, x):
        return self.dense2(self.relu3(self.dense1(self.features(x).flatten(1))))


class Residual(nn.Module):
    """A stem, one residual block with batch norm and a strided convolution, and a pooled head of two layers."""

    def __init__(self, channels):
        super().__init__()
        torch.manual_seed(10 + channels)
        self.stem, self.norm1, self.relu1 = nn.Conv2d(channels, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU()
        self.conv, self.norm2 = nn.Conv2d(6, 6, 3, 2, padding=1), nn.BatchNorm2d(6)
        self.shortcut, self.relu2 = nn.Conv2d(6, 6, 1, 2), nn.ReLU()
        self.weight = nn.Parameter(torch.rand(1, 6, 4, 5))
        self.dense = nn.Linear(6, 3)
        for norm in (self.norm1, self.norm2):
            nn.init.normal_(norm.running_mean, std=0.2)
            nn.init.uniform_(norm.running_var, 0.5, 2)
            nn.init.normal_(norm.bias, std=0.2)

    def forward(self, x):
        x = self.relu1(self.norm1(self.stem(x)))
        x = self.relu2(self.norm2(self.conv(x)) + self.shortcut(x))
        return self.dense((x * self.weight).sum(dim=(2, 3)).tanh())


@pytest.fixture(params=[(Plain, 1), (Plain, 3), (Residual, 1), (Residual, 3)], ids=lambda p: f"{p[0].__name__}-{p[1]}")
def network(request):
    make, channels = request.param
    net = make(channels).eval()
    return net, torch.rand(4, channels, 8, 10, generator=torch.Generator().manual_seed(7)) * 2 - 1


def activations_and_gradients(net, images, layer):
    kept = {}

    def keep(module, inputs, output):
        kept["A"] = output
        return output.clone()

    handle = net.get_submodule(layer).register_forward_hook(keep)
    logits = net(images)
    handle.remove()
    score = logits[torch.arange(len(images)), TARGETS[: len(images)]].sum()
    return kept["A"].detach().double().numpy(), torch.autograd.grad(score, kept["A"])[0].double().numpy()


def rectified(values):
    return np.maximum(values, 0)


def slow_grad_cam(acts, g):
    channels, height, width = acts.shape
    total = np.zeros((height, width))
    for k in range(channels):
        weight = sum(g[k, i, j] for i in range(height) for j in range(width)) / (height * width)
        for i in range(height):
            for j in range(width):
                total[i, j] += weight * acts[k, i, j]
    return rectified(total)


def slow_plus_plus(acts, mean_g, mean_g2, mean_g3):
    channels, height, width = acts.shape
    total = np.zeros((height, width))
    for k in range(channels):
        weight = 0.0
        for i in range(height):
            for j in range(width):
                alpha = mean_g2[k, i, j] / (2 * mean_g2[k, i, j] + acts[k].sum() * mean_g3[k, i, j] + 1e-6)
                weight += alpha * max(mean_g[k, i, j], 0)
        total += weight * acts[k]
    return rectified(total)


def slow_layer_cam(acts, g):
    channels, height, width = acts.shape
    total = np.zeros((height, width))
    for i in range(height):
        for j in range(width):
            total[i, j] = sum(max(g[k, i, j], 0) * acts[k, i, j] for k in range(channels))
    return rectified(total)


def slow_xgrad_cam(acts, g):
    weights = [sum((g[k] * acts[k]).ravel()) / (sum(acts[k].ravel()) or 1) for k in range(len(acts))]
    return rectified(sum(weight * channel for weight, channel in zip(weights, acts, strict=True)))


def slow_eigen_cam(acts):
    """By a full SVD of pixels by channels, columns centred; aligned with the sum over channels."""
    channels, height, width = acts.shape
    pixels = np.array([[acts[k, i, j] for k in range(channels)] for i in range(height) for j in range(width)])
    pixels = pixels - pixels.mean(axis=0)
    _, _, vectors = np.linalg.svd(pixels, full_matrices=True)
    projection = (pixels @ vectors[0]).reshape(height, width)
    return rectified(projection if (projection * acts.sum(axis=0)).sum() >= 0 else -projection)


SLOW = {
    "grad-cam": slow_grad_cam,
    "grad-cam++": lambda acts, g: slow_plus_plus(acts, g, g**2, g**3),
    "layer-cam": slow_layer_cam,
    "xgrad-cam": slow_xgrad_cam,
    "hires-cam": lambda acts, g: rectified(sum(a * b for a, b in zip(acts, g, strict=True))),
    "layer-cam:scale=true": lambda acts, g: np.tanh(2 * slow_layer_cam(acts, g) / (slow_layer_cam(acts, g).max() or 1)),
    "eigen-cam:sign=align": lambda acts, g: slow_eigen_cam(acts),
    "eigen-grad-cam:sign=align": lambda acts, g: slow_eigen_cam(acts * g),
}


def enlarged(maps, size):
    maps = torch.from_numpy(np.stack(maps))[:, None].float()
    return nn.functional.interpolate(maps, size=size, mode="bilinear", align_corners=False)


@pytest.mark.parametrize("layer", ["relu1", "relu2"])
@pytest.mark.parametrize("method", SLOW)
def test_equals_the_slow_transcription(method, layer, network):
    net, images = network
    acts, g = activations_and_gradients(net, images, layer)
    expected = enlarged([SLOW[method](a, b) for a, b in zip(acts, g, strict=True)], images.shape[2:])
    found = salgen.explain(net, images, TARGETS, method=f"{method}{',' if ':' in method else ':'}layer={layer}")
    assert found.native_resolution == acts.shape[2:]
    scale = float(expected.max())
    assert scale > 0
    torch.testing.assert_close(found.values / scale, expected[:, 0] / scale, rtol=1e-3, atol=1e-5)


def test_smooth_grad_cam_plus_plus_equals_the_slow_transcription(network):
    net, images = network
    acts, _ = activations_and_gradients(net, images, "relu2")
    n, noise, expected = 3, 0.2, []
    for k, image in enumerate(images):
        stream = Stream(4, "smooth-grad-cam++", f"name-{k}")
        gradients = []
        for _ in range(n):
            noisy = image + noise * torch.from_numpy(stream.normal(image.numel())).float().view_as(image)
            noisy = torch.stack([noisy] * len(images))  # so that target k is at place k
            gradients.append(activations_and_gradients(net, noisy, "relu2")[1][k])
        moments = [sum(g**power for g in gradients) / n for power in (1, 2, 3)]
        expected.append(slow_plus_plus(acts[k], *moments))
    expected = enlarged(expected, images.shape[2:])[:, 0]
    names = [f"name-{k}" for k in range(len(images))]
    call = f"smooth-grad-cam++:n={n},noise={noise},layer=relu2"
    found = salgen.explain(net, images, TARGETS, method=call, ids=names, seed=4).values
    assert expected.max() > 0
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5 * float(expected.max()))


def by_svd(values):
    pixels = values.double().flatten(1).T.numpy()
    pixels = pixels - pixels.mean(axis=0)
    left, sizes, right = np.linalg.svd(pixels, full_matrices=False)
    return left[:, 0] * sizes[0], right[0], sizes


LAYER_SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 20), st.integers(1, 5), st.integers(2, 5))


@given(shape=LAYER_SHAPES, seed=st.integers(0, 2**31), size=st.sampled_from([1e-25, 1e-3, 1.0, 1e25]))
def test_is_the_first_component_of_the_svd(shape, seed, size):
    """Whichever Gram matrix is smaller, and however small or large the values."""
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * size
    found = principal_component(values)
    assert found.shape == (shape[0], 1, *shape[2:])
    for ours, image in zip(found.double().flatten(1).numpy(), values, strict=True):
        theirs, weights, sizes = by_svd(image)
        gap = 1 - sizes[1] / sizes[0] if len(sizes) > 1 else 1
        sign = np.sign(weights[np.abs(weights).argmax()])
        tie = len(weights) > 1 and np.diff(np.sort(np.abs(weights))[-2:])[0] < 1e-4
        distance = min(np.abs(ours - s * theirs).max() for s in ((1, -1) if tie else (sign,)))
        assert distance <= 1e-4 * sizes[0] / max(gap, 1e-3)


@given(shape=LAYER_SHAPES, seed=st.integers(0, 2**31))
def test_aligned_correlates_with_the_sum_of_channels(shape, seed):
    values = torch.rand(shape, generator=torch.Generator().manual_seed(seed))
    component = principal_component(values)
    found = aligned(component, values)
    assert torch.equal(found.abs(), component.abs())
    total = values.double().sum(dim=1) - values.double().sum(dim=1).mean(dim=(1, 2), keepdim=True)
    assert float((found[:, 0] * total).sum(dim=(1, 2)).min()) >= -1e-5 * float(values.sum())
    assert torch.equal(aligned(-component, values), found) or float((found * values).sum()) < 1e-3


@pytest.mark.parametrize("value", [0.0, 0.3, -7.0, 1e20])
def test_a_constant_layer_and_a_single_pixel_give_zeros(value):
    values = torch.full((2, 5, 3, 4), value) * torch.rand(1, 5, 1, 1)
    assert torch.equal(principal_component(values), torch.zeros(2, 1, 3, 4))
    assert torch.equal(principal_component(values[..., :1, :1]), torch.zeros(2, 1, 1, 1))
    rounding = values * (1 + 1e-7 * torch.rand(2, 5, 3, 4))
    assert torch.equal(principal_component(rounding), torch.zeros(2, 1, 3, 4))


def test_does_not_depend_on_the_batch_or_the_order_of_its_memory():
    values = torch.rand(6, 40, 5, 6).relu()
    together = principal_component(values)
    for k in range(len(values)):
        torch.testing.assert_close(principal_component(values[k : k + 1])[0], together[k], rtol=1e-4, atol=1e-5)
    channels_last = values.contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(principal_component(channels_last), together, rtol=1e-4, atol=1e-5)


class Opposed(nn.Module):
    """The image at full weight, and its negative three times at slightly less: sums of channels are negative."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 1, bias=False)
        self.stem.weight.data = torch.tensor([1.0, -0.9, -0.9, -0.9]).view(4, 1, 1, 1)
        self.head = nn.Linear(4, 2, bias=False)
        self.head.weight.data = torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 2.0]])

    def forward(self, x):
        return self.head(self.stem(x).mean(dim=(2, 3)))


IMAGE = torch.tensor([[1.0, -2.0], [0.0, 3.0]]).view(1, 1, 2, 2)


@pytest.mark.parametrize(("sign", "factor"), [("raw", 1), ("align", -1)])
def test_signs_by_hand(sign, factor):
    """The one component is (1, -.9, -.9, -.9) over its length; its largest weight is the first."""
    length = (1 + 3 * 0.81) ** 0.5
    found = salgen.explain(Opposed(), IMAGE, 0, method="eigen-cam", sign=sign, layer="stem").values
    expected = (factor * length * (IMAGE - IMAGE.mean())).clamp(min=0)[0]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_eigen_grad_cam_aligns_with_what_it_decomposes():
    """For the second class activations times gradients are (1, -1.8, -1.8, -1.8) times the image."""
    found = salgen.explain(Opposed(), IMAGE, 1, method="eigen-grad-cam:sign=align", layer="stem").values
    length = (1 + 3 * 1.8**2) ** 0.5 / 4
    torch.testing.assert_close(found, (-length * (IMAGE - IMAGE.mean())).clamp(min=0)[0], rtol=1e-5, atol=1e-6)
