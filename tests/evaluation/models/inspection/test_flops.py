"""Counted operations: those of layers by hand, and of methods in passes of the network."""

import pytest
import torch
from torch import nn
import salgen
from salgen.evaluation.models.inspection.flops import Flops

NETWORK = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 6 * 6, 5))
IMAGES = torch.rand(3, 2, 8, 8)
PASS = 2 * (4 * 6 * 6 * 2 * 3 * 3 + 4 * 6 * 6 * 5)  # a multiplication and an addition each


def test_a_pass_is_its_multiplications_and_additions():
    with Flops() as found:
        NETWORK(IMAGES)
    assert found.count == len(IMAGES) * PASS


def passes(method):
    """Passes of the network for a map."""
    with Flops() as found:
        salgen.explain(NETWORK, IMAGES, 0, method=method)
    return found.count / (len(IMAGES) * PASS)


@pytest.mark.parametrize("method", ["smoothgrad:n=", "integrated-gradients:steps="])
def test_a_draw_more_costs_what_its_definition_says(method):
    assert passes(f"{method}12") - passes(f"{method}5") == pytest.approx(7 * 2)


def test_what_does_not_look_at_the_network_costs_nothing():
    assert passes("random") == 0


def test_deep_lift_is_counted():
    assert passes("deep-lift") > 2
