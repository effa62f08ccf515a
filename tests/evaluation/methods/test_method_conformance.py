from dataclasses import dataclass, field
from typing import ClassVar
import pytest
import repeats
import torch
from salgen.evaluation.methods.controls import Random, Sobel
from salgen.evaluation.methods.gradient import Gradient
from salgen.registry import METHODS
from salgen.testing.methods import check_method


@pytest.mark.parametrize("name", METHODS.names())
def test_every_registered_method_conforms(name):
    check_method(name, (1, 3) if repeats.torture else (3,))


def test_a_method_that_depends_on_its_batch_is_caught():
    @dataclass(frozen=True)
    class Batchy(Gradient):
        def attribute(self, request):
            return super().attribute(request) - request.inputs.mean()

    with pytest.raises(AssertionError, match="depends on its batch"):
        check_method(Batchy())


def test_a_method_that_hides_its_sign_is_caught():
    @dataclass(frozen=True)
    class Unsigned(Gradient):
        signed: ClassVar[bool] = False

    with pytest.raises(AssertionError, match="negative"):
        check_method(Unsigned())


def test_a_method_with_hidden_randomness_is_caught():
    @dataclass(frozen=True)
    class Global(Random):
        def attribute(self, request):
            return torch.rand(len(request.ids), 1, *request.pixels.shape[2:])

    with pytest.raises(AssertionError, match="same maps"):
        check_method(Global())


def test_a_method_that_looks_at_the_target_unsaid_is_caught():
    @dataclass(frozen=True)
    class Targeted(Sobel):
        def attribute(self, request):
            return super().attribute(request) + request.targets.view(-1, 1, 1, 1)

    with pytest.raises(AssertionError, match="class_dependent"):
        check_method(Targeted())


def test_a_method_that_changes_the_callers_model_is_caught():
    @dataclass(frozen=True)
    class Rough(Gradient):
        calls: list = field(default_factory=list)

        def attribute(self, request):
            next(request.model.network.parameters()).add_(1)
            self.calls.append(1)
            return torch.zeros_like(request.inputs)

    with pytest.raises(AssertionError, match="model was changed"):
        check_method(Rough())
