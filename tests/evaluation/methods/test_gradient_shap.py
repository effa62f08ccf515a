"""GradientSHAP: against captum, integrated gradients, and a linear network by hand."""

import captum.attr
import pytest
import torch
from small_networks import Tidy, linear

import salgen


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(1))


def test_gradient_shap_of_a_linear_network_by_hand(images):
    net = linear()
    weights = net[1].weight[1].detach().view(1, 8, 8)
    found = salgen.explain(net, images, 1, method="gradient-shap", n=2, noise=0, reduce=None).values
    torch.testing.assert_close(found, weights * images, rtol=1e-4, atol=1e-6)


def test_gradient_shap_comes_near_integrated_gradients_and_captum(images):
    net, black = Tidy(), torch.zeros(1, 1, 8, 8)
    exact = salgen.explain(net, images, 1, method="integrated-gradients", steps=300, reduce=None).values
    ours = salgen.explain(net, images, 1, method="gradient-shap", n=400, noise=0, reduce=None).values
    theirs = captum.attr.GradientShap(net).attribute(images, black, n_samples=400, target=1).detach().float()
    for found in (ours, theirs):
        torch.testing.assert_close(found, exact, rtol=0, atol=0.15 * float(exact.abs().max()))


def test_gradient_shap_is_complete_up_to_chance(images):
    net = Tidy()
    found = salgen.explain(net, images, 1, method="gradient-shap", n=300, noise=0).values.sum(dim=(1, 2))
    gap = (net(images) - net(torch.zeros_like(images))).detach()[:, 1]
    assert (found - gap).abs().max() < 0.1 * gap.abs().max()


def test_gradient_shaps_baselines_spread_with_the_image(images):
    """On a linear network the attribution is w (x - baseline), whose mean and spread show the baselines."""
    net = linear()
    weights = net[1].weight[0].detach().view(8, 8)
    maps = [salgen.explain(net, images, 0, method="gradient-shap", n=1, seed=seed).values for seed in range(30)]
    baselines = images[:, 0] - torch.stack(maps) / weights
    spread = baselines.std(dim=(0, 2, 3)) / (images.amax(dim=(1, 2, 3)) - images.amin(dim=(1, 2, 3)))
    torch.testing.assert_close(spread, torch.full((3,), 0.15), rtol=0.1, atol=0)
    assert baselines.mean().abs() < 0.02
