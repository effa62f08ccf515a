import pytest
import repeats
import torch
from salgen.evaluation.methods import xrai
from salgen.evaluation.methods.controls import Random, Sobel
from salgen.evaluation.methods.gradient import Gradient
from salgen.registry import METHODS
from salgen.testing.methods import check_method


@pytest.mark.parametrize("name", METHODS.names())
def test_every_registered_method_conforms(name, monkeypatch):
    monkeypatch.setattr(xrai, "SIDE", 56)  # the side at which it segments images, at great length
    check_method(name, (1, 3) if repeats.torture else (3,))


def rough(method, context):
    next(context.model.network.parameters()).add_(1)
    return torch.zeros_like(context.inputs)


FAULTS = {
    "depends on its batch": (Gradient, {"attribute": lambda _, context: context.inputs - context.inputs.mean()}),
    "negative": (Gradient, {"signed": False}),
    "same maps": (Random, {"attribute": lambda _, context: torch.rand(len(context.ids), 1, *context.pixels.shape[2:])}),
    "class_dependent": (Sobel, {"attribute": lambda _, context: context.pixels + context.targets.view(-1, 1, 1, 1)}),
    "model was changed": (Gradient, {"attribute": rough}),
}


@pytest.mark.parametrize("law", FAULTS)
def test_a_method_that_breaks_a_law_is_caught(law):
    base, members = FAULTS[law]
    with pytest.raises(AssertionError, match=law):
        check_method(type("Faulty", (base,), members)())
