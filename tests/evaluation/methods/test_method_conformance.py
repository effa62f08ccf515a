from dataclasses import dataclass
from typing import ClassVar
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


@dataclass(frozen=True)
class Batchy(Gradient):
    def attribute(self, context):
        return super().attribute(context) - context.inputs.mean()


@dataclass(frozen=True)
class Unsigned(Gradient):
    signed: ClassVar[bool] = False


@dataclass(frozen=True)
class HiddenRandomness(Random):
    def attribute(self, context):
        return torch.rand(len(context.ids), 1, *context.pixels.shape[2:])


@dataclass(frozen=True)
class Targeted(Sobel):
    def attribute(self, context):
        return super().attribute(context) + context.targets.view(-1, 1, 1, 1)


@dataclass(frozen=True)
class Rough(Gradient):
    def attribute(self, context):
        next(context.model.network.parameters()).add_(1)
        return torch.zeros_like(context.inputs)


FAULTS = {
    Batchy: "depends on its batch",
    Unsigned: "negative",
    HiddenRandomness: "same maps",
    Targeted: "class_dependent",
    Rough: "model was changed",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_method_that_breaks_a_law_is_caught(fault):
    with pytest.raises(AssertionError, match=FAULTS[fault]):
        check_method(fault())
