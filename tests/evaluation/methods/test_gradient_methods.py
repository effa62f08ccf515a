import numpy as np
import pytest
import torch
from torch import nn

import salgen
from salgen.errors import SalgenError
from salgen.seeding import Stream


class Square(nn.Module):
    """Logit k is (k + 1) times the sum of squares, so the gradient is 2 (k + 1) x."""

    def forward(self, x):
        return (x**2).sum(dim=(1, 2, 3))[:, None] * torch.tensor([1.0, 2.0, 3.0]).to(x)


@pytest.fixture
def images():
    return torch.rand(4, 2, 5, 6, generator=torch.Generator().manual_seed(0)) - 0.5


def test_smoothgrad_averages_gradients_at_the_noise_of_the_stream(images):
    ids = ["a", "b", "c", "d"]
    found = salgen.explain(Square(), images, 1, method="smoothgrad:n=3,noise=0.2", ids=ids, seed=7, reduce=None).values
    for name, image, map_ in zip(ids, images.double().numpy(), found, strict=True):
        stream = Stream(7, "smoothgrad", name)
        noise = np.mean([stream.normal(image.size).reshape(image.shape) for _ in range(3)], axis=0)
        expected = 4 * (image + 0.2 * (image.max() - image.min()) * noise)
        np.testing.assert_allclose(map_, expected, rtol=1e-4, atol=1e-5)


def test_smoothgrad_reduces_channels_after_averaging(images):
    raw = salgen.explain(Square(), images, 0, method="smoothgrad", reduce=None).values
    reduced = salgen.explain(Square(), images, 0, method="smoothgrad")
    assert reduced.reduction == "max_abs"
    assert torch.equal(reduced.values, raw.abs().amax(dim=1))


def test_smoothgrad_follows_the_papers_amount_of_noise(images):
    """The noise's spread, seen through a gradient that is twice the input."""
    image = images[:1].repeat(200, 1, 1, 1)
    ids = [str(k) for k in range(200)]
    raw = salgen.explain(Square(), image, 0, method="smoothgrad:n=1", ids=ids, reduce=None).values
    noise = raw / 2 - image
    assert float(noise.std()) == pytest.approx(0.15 * float(images[0].max() - images[0].min()), rel=0.03)
    assert abs(float(noise.mean())) < 0.01


@pytest.mark.parametrize("method", ["smoothgrad:n=2", "random"])
def test_randomness_is_keyed_by_seed_and_sample(images, method):
    def maps(order, seed=0, batch_size=None):
        ids = [f"s{k}" for k in order]
        return salgen.explain(Square(), images[order], 0, method=method, ids=ids, seed=seed, batch_size=batch_size)

    together = maps([0, 1, 2, 3]).values
    torch.testing.assert_close(maps([3, 0]).values, together[[3, 0]])
    torch.testing.assert_close(maps([0, 1, 2, 3], batch_size=1).values, together)
    assert not torch.allclose(maps([0, 1, 2, 3], seed=1).values, together)


def test_the_margin_is_the_gradient_of_target_minus_best_other(images):
    gradient = salgen.explain(Square(), images, 0, method="gradient", score="margin", reduce=None).values
    torch.testing.assert_close(gradient, 2 * images - 6 * images)


def test_integrated_gradients_of_a_square_are_the_squares(images):
    raw = salgen.explain(Square(), images, 0, method="integrated-gradients:steps=4", reduce=None).values
    torch.testing.assert_close(raw, images**2)


def test_a_normalisation_that_cannot_map_black_is_an_error(images):
    from salgen.evaluation.models.classifier import Classifier

    class Standardise(nn.Module):
        def forward(self, pixels):
            return pixels / pixels.std(dim=(1, 2, 3), keepdim=True)

    with pytest.raises(SalgenError, match="black or white image"):
        salgen.explain(Classifier(Square(), Standardise()), images, 0, method="integrated-gradients")
