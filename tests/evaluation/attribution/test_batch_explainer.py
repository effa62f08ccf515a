"""Maps of nothing are said once for each network and method."""

import warnings
import pytest
import torch
from torch import nn
import salgen
from salgen.errors import SalgenWarning
from salgen.evaluation.models.inspection.model_view import ModelView

IMAGES = torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(0)) + 0.1


def dead(bias):
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2))
    nn.init.constant_(net[0].bias, bias)
    return net


def said(view, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        salgen.explain_all(view, IMAGES, 0, **options)
    return [str(warning.message) for warning in caught if warning.category is SalgenWarning]


def test_maps_of_nothing_are_said_once():
    view = ModelView.of(dead(-100.0))
    (text,) = said(view, methods=["gradient", "center"])
    assert text.startswith("gradient: 3 of 3 maps are zero everywhere")
    assert said(view, methods=["gradient"]) == []
    assert said(ModelView.of(dead(0.0)), methods=["gradient", "oracle"], masks=IMAGES[:, 0] > 5) == []


@pytest.mark.parametrize(("value", "kind"), [(2.0, "constant"), (torch.inf, "not finite"), (0.0, "zero everywhere")])
def test_each_kind_is_named(value, kind, monkeypatch):
    from salgen.evaluation.methods.gradient import Gradient

    monkeypatch.setattr(Gradient, "attribute", lambda self, context: torch.full_like(context.inputs, value))
    assert any(f"3 of 3 maps are {kind}" in text for text in said(ModelView.of(dead(0.0)), methods=["gradient"]))


def test_gradients_are_single_precision_within_autocast():
    view = ModelView.of(dead(0.0))
    maps = [salgen.explain(view, IMAGES, 0, method="gradient").values]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        maps.append(salgen.explain(view, IMAGES, 0, method="gradient").values)
    assert torch.equal(*maps)
