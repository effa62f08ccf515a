"""Extremal perturbations from the paper and the authors' code, with loops."""

import math
import numpy as np
import torch
from scipy.ndimage import gaussian_filter
from torch import nn
import salgen

SIZE, SPACING = (48, 50), 2


class Sharpness(nn.Module):
    """The logits grow with edges within a square: of all channels, of the first, and of none."""

    def forward(self, x):
        edges = (x - nn.functional.avg_pool2d(x, 3, 1, 1)).square()[:, :, 14:30, 10:26].mean(dim=(2, 3))
        return torch.stack([100 * edges.sum(dim=1), 100 * edges[:, 0], 0 * edges[:, 0]], dim=1)


def slow_reach():
    """Each cell's weight at each pixel, zero outside the pixel's window; and how many of the window are no cells."""
    rows, columns = (math.ceil(length / SPACING) for length in SIZE)
    weights, missing = np.full((*SIZE, rows, columns), np.nan), np.zeros(SIZE)
    for y in range(SIZE[0]):
        for x in range(SIZE[1]):
            for i in range(y // SPACING - 4, y // SPACING + 5):
                for j in range(x // SPACING - 4, x // SPACING + 5):
                    if not (0 <= i < rows and 0 <= j < columns):
                        missing[y, x] += 1
                        continue
                    z = math.dist((y, x), (i * SPACING, j * SPACING)) / (3 * SPACING)
                    weights[y, x, i, j] = math.exp(-2 * max(z - 0.5, 0) ** 2)
    return torch.from_numpy(weights).flatten(2), torch.from_numpy(missing)


def slow_mask(cells, weights, missing):
    inside = ~weights.isnan()
    values = weights.nan_to_num() * cells.flatten()
    exponentials = (20 * values).exp() * inside
    return ((values * exponentials).sum(dim=2) / (exponentials.sum(dim=2) + missing)).clamp(0, 1)


def slow_extremal(net, image, target, area, steps, weight):
    reach = slow_reach()
    sigmas = [20 / 224 * 48 * (1 - level / 7) for level in range(8)]
    levels = torch.stack([torch.from_numpy(gaussian_filter(image, (0, s, s), mode="constant")) for s in sigmas])
    cells, momentum, pixels = torch.ones(24, 25).double(), None, 48 * 50
    ideal = torch.tensor([float(rank >= int(pixels * (1 - area))) for rank in range(pixels)])
    for _ in range(steps):
        leaf = cells.clone().requires_grad_()
        mask = slow_mask(leaf, *reach)
        shown = 0
        for level in range(8):
            shown = shown + levels[level] * (1 - (7 * mask - level).abs()).clamp(min=0)
        energy = net(shown[None])[0, target] - weight * ((mask.flatten().sort().values - ideal) ** 2).mean()
        (gradient,) = torch.autograd.grad(-energy, leaf)
        momentum = gradient if momentum is None else 0.9 * momentum + 0.1 * gradient
        cells, weight = (cells - 0.01 * momentum).clamp(0, 1), weight * 1.0035
    mask = slow_mask(cells, *reach).numpy()
    return gaussian_filter(mask, 0.09 * 48, mode="constant")


def test_equals_the_slow_transcription():
    net, images = Sharpness(), torch.rand(2, 2, *SIZE, generator=torch.Generator().manual_seed(1)).double()
    expected = [
        sum(slow_extremal(net, image, target, area, 4, 50.0) for area in (0.1, 0.3))
        for image, target in zip(images.numpy(), (0, 1), strict=True)
    ]
    given = {"areas": (0.1, 0.3), "steps": 4, "weight": 50.0}
    found = salgen.explain(net, images, [0, 1], method="extremal-perturbation", **given).values
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-6)
    assert np.std(expected) > 0.01
