import captum.attr
import numpy as np
import pytest
import torch
from small_networks import Of, Tidy, linear
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier
from salgen.seeding import Stream

# Logit k is (k + 1) times the sum of squares, so the gradient is 2 (k + 1) x.
SQUARES = Of(lambda x: (x**2).sum(dim=(1, 2, 3))[:, None] * torch.tensor([1.0, 2.0, 3.0]).to(x))


@pytest.fixture
def inputs():
    return torch.rand(4, 2, 5, 6, generator=torch.Generator().manual_seed(0)) - 0.5


def test_smoothgrad_averages_gradients_at_the_noise_of_the_stream(inputs):
    ids = ["a", "b", "c", "d"]
    found = salgen.explain(SQUARES, inputs, 1, method="smoothgrad:n=3,noise=0.2", ids=ids, seed=7, reduce=None).values
    for name, image, map_ in zip(ids, inputs.double().numpy(), found, strict=True):
        stream = Stream(7, "smoothgrad", name)
        noise = np.mean([stream.normal(image.size).reshape(image.shape) for _ in range(3)], axis=0)
        expected = 4 * (image + 0.2 * (image.max() - image.min()) * noise)
        np.testing.assert_allclose(map_, expected, rtol=1e-4, atol=1e-5)


def test_a_normalisation_that_cannot_map_black_is_an_error(inputs):
    standardise = Of(lambda pixels: pixels / pixels.std(dim=(1, 2, 3), keepdim=True))
    with pytest.raises(SalgenError, match="black or white image"):
        salgen.explain(Classifier(SQUARES, standardise), inputs, 0, method="integrated-gradients")


def test_gradient_shap_comes_near_integrated_gradients_and_captum(images):
    net, black = Tidy(), torch.zeros(1, 1, 8, 8)
    exact = salgen.explain(net, images, 1, method="integrated-gradients", steps=300, reduce=None).values
    ours = salgen.explain(net, images, 1, method="gradient-shap", n=400, noise=0, reduce=None).values
    theirs = captum.attr.GradientShap(net).attribute(images, black, n_samples=400, target=1).detach().float()
    for found in (ours, theirs):
        torch.testing.assert_close(found, exact, rtol=0, atol=0.15 * float(exact.abs().max()))


def test_gradient_shaps_baselines_spread_with_the_image(images):
    """On a linear network the attribution is w (x - baseline), whose mean and spread show the baselines."""
    net = linear()
    weights = net[1].weight[0].detach().view(8, 8)
    maps = [salgen.explain(net, images, 0, method="gradient-shap", n=1, seed=seed).values for seed in range(30)]
    baselines = images[:, 0] - torch.stack(maps) / weights
    spread = baselines.std(dim=(0, 2, 3)) / (images.amax(dim=(1, 2, 3)) - images.amin(dim=(1, 2, 3)))
    torch.testing.assert_close(spread, torch.full((3,), 0.15), rtol=0.1, atol=0)
    assert baselines.mean().abs() < 0.02
