import numpy as np
import pytest
import torch
from small_networks import Pyramid
from torch import nn
import salgen

IMAGES = np.random.default_rng(0).random((5, 2, 8, 9)).astype(np.float32)
TARGETS = np.zeros(5, dtype=int)


@pytest.fixture
def model():
    return Pyramid(channels=2)


def scored(model, maps, images=IMAGES, **options):
    targets = np.zeros(len(images), dtype=int)
    return salgen.score(maps, metrics="class-sensitivity", model=model, images=images, targets=targets, **options)


@pytest.mark.parametrize("method", ["gradient", "input-x-gradient", "occlusion:window=3,3,stride=2"])
def test_correlates_the_maps_of_the_most_and_least_likely_class(model, method):
    logits = model.eval()(torch.tensor(IMAGES)).detach().numpy()
    explained = [
        salgen.explain(model, IMAGES, classes, method=method, reduce="sum").values.numpy().astype(float)
        for classes in (logits.argmax(axis=1), logits.argmin(axis=1))
    ]
    expected = [np.corrcoef(*(values.ravel() for values in pair))[0, 1] for pair in zip(*explained, strict=True)]
    maps = salgen.explain(model, IMAGES, TARGETS, method=method, reduce="sum")
    found = scored(model, maps)
    np.testing.assert_allclose(found["class-sensitivity"], expected, rtol=1e-5, atol=1e-6)
    assert found.reasons["class-sensitivity"] == [""] * 5


def test_a_constant_map_is_zero_and_counted_and_one_that_is_not_finite_has_the_worst_value(model):
    def method(model, images, targets):
        logits = model(images)
        maps = images.detach().mean(dim=1)
        maps[targets == logits.argmin(dim=1)] = 0.0
        maps[1, 0, 0] = torch.nan
        return maps

    found = scored(model, IMAGES.mean(axis=1), method=method)
    assert found.reasons["class-sensitivity"] == ["constant_map", "non_finite_map", *["constant_map"] * 3]
    assert found["class-sensitivity"][[0, 2, 3, 4]].tolist() == [0.0] * 4
    assert found.worst_case["class-sensitivity"].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]


def test_logits_that_the_softmax_cannot_tell_apart_still_can():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(2 * 8 * 9, 3))
    model[1].bias.data = torch.tensor([3000.0, -1000.0, -2000.0])  # probabilities 1, 0, 0
    weights = model[1].weight.detach().numpy().reshape(3, 2, 8, 9).sum(axis=1)
    maps = salgen.explain(model, IMAGES, TARGETS, method="gradient", reduce="sum")
    expected = np.corrcoef(weights[0].ravel(), weights[2].ravel())[0, 1]
    assert scored(model, maps)["class-sensitivity"] == pytest.approx([expected] * 5, abs=1e-5)
