"""Sobol and HSIC attribution from the papers' estimators, with loops and whole kernel matrices."""

import numpy as np
import pytest
import torch
from scipy.stats import qmc
from small_networks import Tidy
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.seeding import Stream


@pytest.fixture
def images():
    return torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(1))


def score(net, image, shares, side=3):
    """The first logit of an image (1, 8, 8) whose cells keep these shares of it."""
    kept = image.clone()
    for y in range(8):
        for x in range(8):
            kept[:, y, x] *= shares[y * side // 8 * side + x * side // 8]
    return float(net(kept[None]).detach()[0, 0])


def slow_sobol(net, image, _number, n=8, cells=9):
    points = qmc.Sobol(2 * cells, scramble=False).random(n)
    plain = [score(net, image, point[:cells]) for point in points]
    mean = sum(plain) / n
    variance = sum((value - mean) ** 2 for value in plain) / (n - 1)
    found = []
    for cell in range(cells):
        total = 0
        for point, value in zip(points, plain, strict=True):
            changed = point[:cells].copy()
            changed[cell] = point[cells + cell]
            total += (value - score(net, image, changed)) ** 2
        found.append(total / (2 * n * variance))
    return found


def slow_hsic(net, image, number, n=20, cells=9):
    draws = Stream(3, "hsic", f"name-{number}").uniform(n * cells).reshape(n, cells)
    kept = np.zeros((n, cells))
    for cell in range(cells):
        for draw in np.argsort(draws[:, cell])[: n // 2]:
            kept[draw, cell] = 1
    values = np.array([score(net, image, row) for row in kept])
    width = np.median(values)
    outputs = np.array([[np.exp(-((a - b) ** 2) / (2 * width**2)) for b in values] for a in values])
    centring = np.eye(n) - 1 / n
    found = []
    for cell in range(cells):
        inputs = np.array([[1 + 0.5 - (a - b) ** 2 for b in kept[:, cell]] for a in kept[:, cell]])
        found.append(np.trace(inputs @ centring @ outputs @ centring) / n**2)
    return found


@pytest.mark.parametrize(("method", "slow"), [("sobol:n=8", slow_sobol), ("hsic:n=20", slow_hsic)])
def test_equals_the_slow_transcription(method, slow, images):
    net, options = Tidy(), {"ids": ["name-0", "name-1"], "seed": 3}
    found = salgen.explain(net, images, 0, method=f"{method},cells=3,output=score", **options)
    assert found.native_resolution == (3, 3)
    expected = torch.tensor([slow(net, image, number) for number, image in enumerate(images)]).view(2, 1, 3, 3).float()
    assert expected.std() > 0
    expected = nn.functional.interpolate(expected, (8, 8), mode="bilinear", align_corners=False)
    torch.testing.assert_close(found.values[:, None], expected, rtol=1e-3, atol=1e-5 * float(expected.max()))


def test_an_output_that_never_changes_depends_on_nothing():
    for method in ("sobol:n=4,cells=2", "hsic:n=4,cells=2"):
        assert not salgen.explain(Tidy(), torch.zeros(1, 1, 8, 8), 0, method=method).values.any()


def test_a_number_that_is_no_power_of_two_is_refused():
    with pytest.raises(SalgenError, match=r"sobol: n=24 must be a power of two, such as 32"):
        salgen.explain(Tidy(), torch.zeros(1, 1, 8, 8), 0, method="sobol:n=24")
