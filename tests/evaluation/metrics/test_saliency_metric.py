import math
import numpy as np
import pytest
import torch
from slow_resizing import enlarged_by_loops
from small_networks import Of
from torch import nn
import salgen
from salgen.evaluation.models.classifier import Classifier

NAME, CODE = "saliency-metric", "saliency-metric:compat=aabid"
SIDE = 8


@pytest.fixture
def model():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * SIDE * SIDE, 3))
    return Classifier(network.double(), Of(lambda pixels: pixels**2 - 0.3))  # it does not commute with resizing


@pytest.fixture
def images():
    return np.random.default_rng(0).random((5, 2, SIDE, SIDE)).astype(np.float32)


def value_slowly(model, image, target, box, cropped=True):
    top, bottom, left, right = box
    pixels = image.astype(np.float64)
    if cropped:
        pixels = np.stack([enlarged_by_loops(channel[top:bottom, left:right], (SIDE, SIDE)) for channel in pixels])
    with torch.no_grad():
        logits = model(torch.tensor(pixels)[None])[0].numpy()
    p = math.exp(logits[target]) / sum(map(math.exp, logits))
    return math.log(max((bottom - top) * (right - left) / SIDE**2, 0.05)) - math.log(p)


BOXES = [(0, 8, 0, 8), (2, 5, 1, 7), (6, 8, 0, 2), (3, 4, 3, 4), (0, 1, 0, 8)]


def maps_of(boxes):
    maps = np.zeros((len(boxes), SIDE, SIDE), dtype=np.float32)
    for saliency, (top, bottom, left, right) in zip(maps, boxes, strict=True):
        saliency[top:bottom, left:right] = 1.0
    return maps


def test_is_the_area_against_the_probability_of_the_crop(model, images):
    targets = np.array([0, 1, 2, 0, 1])
    scores = salgen.score(maps_of(BOXES), None, [NAME, CODE], model=model, images=images, targets=targets)
    for name, cropped in ((NAME, True), (CODE, False)):
        expected = [
            value_slowly(model, image, target, box, cropped)
            for image, target, box in zip(images, targets, BOXES, strict=True)
        ]
        assert np.allclose(scores[name], expected, atol=1e-6)
    assert scores[NAME][0] == scores[CODE][0]  # the whole image is its own crop
    assert not np.allclose(scores[NAME][1:], scores[CODE][1:], atol=1e-3)


def test_the_box_is_that_of_the_largest_component(model, images):
    saliency = np.zeros((1, SIDE, SIDE))
    saliency[0, 0, 0] = 9.0
    saliency[0, 3:5, 2:6] = 8.0
    saliency[0, 7, 7] = -1.0
    scores = salgen.score(saliency, None, [NAME], model=model, images=images[:1], targets=[2])
    assert scores[NAME][0] == pytest.approx(value_slowly(model, images[0], 2, (3, 5, 2, 6)), abs=1e-6)


def test_from_log_a_twentieth_to_what_the_clipped_probability_allows(images):
    maps, logits = maps_of([(0, 1, 0, 1), (0, 8, 0, 8)]), torch.tensor([0.0, 1000.0])
    confident = Of(lambda pixels: logits + 0.0 * pixels.sum(dim=(1, 2, 3))[:, None])  # of class 1, whatever the image
    right = salgen.score(maps, None, [NAME], model=confident, images=images[:2], targets=[1, 1])[NAME]
    wrong = salgen.score(maps, None, [NAME], model=confident, images=images[:2], targets=[0, 0])[NAME]
    assert np.array_equal(right, [math.log(0.05), 0.0])
    assert np.allclose(wrong - right, 12 * math.log(10), atol=1e-12)
