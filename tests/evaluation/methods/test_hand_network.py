"""A network small enough to explain by hand.

Two inputs, three hidden ReLUs (the third is off), two outputs; the input is (1, 2):
z = (1, 2, -1), h = (1, 2, 0), logits = (1, -1.5).
"""

import pytest
import torch
from small_networks import by_hand
import salgen
from salgen.errors import SalgenError


@pytest.fixture
def network():
    return by_hand()


IMAGE = torch.tensor([1.0, 2.0]).view(1, 1, 1, 2)

CASES = [
    ("gradient", 0, {}, (5, -4)),
    ("gradient", 1, {}, (-3, 3)),  # from +1, although the logit is negative
    ("gradient", 0, {"score": "margin"}, (8, -7)),
    ("gradient", 1, {"score": "margin"}, (-8, 7)),
    ("smoothgrad", 0, {"noise": 0, "n": 2}, (5, -4)),
    ("input-x-gradient", 0, {}, (5, -8)),
    ("guided-backprop", 0, {}, (6, -3)),
    ("guided-backprop", 1, {}, (1, 1)),
    ("deconvnet", 0, {}, (2, -3)),  # the third unit is off, and passes all the same
    ("deconvnet", 0, {"score": "margin"}, (6, -5)),
    ("lrp-z", 0, {}, (5, -8)),
    ("lrp-z", 1, {}, (2, -4)),
    ("lrp-z", 1, {"start": "logit"}, (-3, 6)),
    ("lrp-alpha-beta", 0, {}, (10 / 3, -10 / 3)),
    ("lrp-alpha-beta", 0, {"bias": True}, (2, -10 / 3)),
    ("lrp-alpha-beta", 0, {"alpha": 1, "beta": 0}, (1, 0)),
    ("deep-taylor", 0, {}, (28 / 78, 2 / 78)),
    ("deep-taylor", 1, {}, (4 / 5 + 1 / 15, 2 / 15)),
    ("deep-taylor", 1, {"start": "logit"}, (0, 0)),
    ("deep-taylor", 0, {"first": "box", "low": -3, "high": 3}, (220 / 234, 14 / 234)),
]


@pytest.mark.parametrize(("method", "target", "options", "expected"), CASES)
def test_attributions_by_hand(network, method, target, options, expected):
    raw = salgen.explain(network, IMAGE, target, method=method, reduce=None, **options)
    torch.testing.assert_close(raw.values.flatten(), torch.tensor(expected).float(), rtol=1e-4, atol=1e-5)


def test_integrated_gradients_by_hand(network):
    """The second unit turns on at a third of the way, so the gradient has two pieces."""
    raw = salgen.explain(network, IMAGE, 0, method="integrated-gradients", reduce=None, steps=300)
    torch.testing.assert_close(raw.values.flatten(), torch.tensor([16 / 3, -22 / 3]), rtol=0, atol=0.03)


FAULTS = [
    ("lrp-alpha-beta:alpha=3", r"alpha - beta must be 1.*alpha=3, beta=1.*try alpha=2"),
    ("deep-taylor", "needs their bounds: give low= and high="),
    ("deep-taylor:low=-1", "both low and high"),
    ("deep-taylor:low=1,high=0", "must be below"),
]


@pytest.mark.parametrize(("method", "words"), FAULTS)
def test_parameters_that_give_no_relevance_of_signed_inputs_are_refused(network, method, words):
    with pytest.raises(SalgenError, match=words):
        salgen.explain(network, -IMAGE, 0, method=method)
