"""The CAM family a second time, slowly, from the papers."""

import numpy as np
import pytest
import torch
from torch import nn
import salgen
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
